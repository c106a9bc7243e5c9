import type { CveDraft, SigPayload, SigRequest, SigResponse } from '@rushhour/contract';
import { cvssScoreOf } from '../expressions/cvss.ts';
import { unknownNames } from '../expressions/expand.ts';
import { probeTag } from '../negative-tag.ts';
import { withoutCallbacks } from './callback-hosts.ts';
import { categoryOf } from './category.ts';
import {
  clipped,
  cveIdsOf,
  cweIdsOf,
  listOf,
  type Members,
  membersOf,
  nameOf,
  numberOf,
  requireMembers,
  tagsOf,
  textOf,
  textsOf,
  wordsOf,
} from './members.ts';
import { answerFromMatchers } from './nuclei-matchers.ts';
import { dnsRequest, httpRequests, payloadsOf, tcpRequests } from './nuclei-requests.ts';
import { readYaml } from './read-yaml.ts';
import { type ReadTemplate, Refusal, refusing, type TemplateFile, type TemplateOutcome } from './template.ts';

/** Parts of templates that run programs, browsers or scripts, or leave the test network. */
const refusedParts = ['code', 'javascript', 'headless', 'file', 'ssl', 'whois', 'websocket', 'workflows'];
const severities = ['info', 'low', 'medium', 'high', 'critical', 'unknown'] as const;

export const readNuclei = ({ path, bytes }: TemplateFile): TemplateOutcome[] => {
  let template: Members;
  try {
    template = requireMembers(readYaml(withoutCallbacks(bytes)), 'the template');
  } catch (error) {
    if (error instanceof Refusal) return [{ templateId: path, refused: error.message }];
    throw error;
  }
  const id = textOf(template['id']) || path;
  return alternativesOf(template).map((alternative, i) => {
    const own = i === 0 ? id : `${id}#${i + 1}`;
    return refusing(own, () => templateOf(alternative, own));
  });
};

const maxAlternatives = 20;

/** Paths of one block are tried until one matches: each is an attempt of its own, unless matchers compare them. */
const alternativesOf = (template: Members): Members[] => {
  const member = template['http'] === undefined ? 'requests' : 'http';
  const [block, ...more] = listOf(template[member]).map(membersOf);
  const paths = textsOf(block?.['path']);
  const isAlone = block !== undefined && more.length === 0 && paths.length > 1 && block['raw'] === undefined;
  const isChained = block?.['req-condition'] === true || /[a-z]_\d+\b/.test(JSON.stringify(block?.['matchers'] ?? ''));
  if (!isAlone || isChained) return [template];
  return paths.slice(0, maxAlternatives).map((path) => ({ ...template, [member]: [{ ...block, path: [path] }] }));
};

const templateOf = (template: Members, templateId: string): ReadTemplate => {
  const part = refusedParts.find((name) => template[name] !== undefined);
  if (part !== undefined) throw new Refusal(`templates with ${part} are not taken: they are more than data`);
  if (template['self-contained'] === true) throw new Refusal('a self-contained template names its own hosts');
  const warnings: string[] = [];
  const warn = (warning: string) => void warnings.push(clipped(warning, 250));
  const info = requireMembers(template['info'], 'info');
  const content = contentOf(template, warn);
  const draft: CveDraft = { ...describe(info, templateId, warn), ...content };
  return { templateId, source: 'nuclei', sourceRef: clipped(templateId, 250), draft, warnings: warnings.slice(0, 50) };
};

const describe = (info: Members, templateId: string, warn: (warning: string) => void) => {
  const classification = membersOf(info['classification']);
  const metadata = membersOf(info['metadata']);
  const tags = wordsOf(info['tags']);
  const severity = severities.find((known) => known === textOf(info['severity']).toLowerCase()) ?? 'unknown';
  const category = categoryOf(tags.join(), textOf(info['name']));
  const isProbe = severity === 'info' || tags.some((tag) => /^(detect|detection|tech|panel|discovery)$/i.test(tag));
  const description = [textOf(info['description']), textOf(info['impact'])].filter((text) => text !== '').join('\n');
  return {
    name: nameOf(textOf(info['name']), templateId),
    description: clipped(description.trim(), 4096),
    cveIDs: cveIdsOf([...wordsOf(classification['cve-id']), templateId]),
    cweIDs: cweIdsOf(wordsOf(classification['cwe-id'])),
    severity,
    ...scoresOf(classification, warn),
    kev: tags.some((tag) => tag.toLowerCase() === 'kev'),
    vendor: clipped(textOf(metadata['vendor']), 128),
    product: clipped(textsOf(metadata['product'])[0] ?? '', 128),
    cpe: clipped(textOf(classification['cpe']), 512),
    techniques: isProbe ? [] : techniquesOf(category),
    category,
    tags: tagsOf([...(isProbe ? [probeTag] : []), ...tags]),
    ...(isProbe && { expect: { action: 'allow' as const } }),
    remediation: clipped(textOf(info['remediation']).trim(), 4096),
    references: [
      ...textsOf(info['reference'])
        .flatMap((text) => text.split('\n'))
        .map((value) => ({ type: 'url' as const, value: clipped(value.trim(), 2048) })),
      ...wordsOf(info['author']).map((author) => ({
        type: 'vendor' as const,
        value: clipped(`author: ${author}`, 2048),
      })),
    ]
      .filter(({ value }) => value !== '')
      .slice(0, 100),
    licence: 'MIT',
  };
};

const techniqueOf: Readonly<Record<string, string>> = {
  ...{ sqli: 'T1190', rce: 'T1190', 'command-injection': 'T1190', 'path-traversal': 'T1190', lfi: 'T1190' },
  ...{ rfi: 'T1190', ssrf: 'T1190', xxe: 'T1190', ssti: 'T1190', deserialization: 'T1190', 'file-upload': 'T1505.003' },
  ...{ 'auth-bypass': 'T1190', xss: 'T1189' },
};

/** Only where the kind of flaw says what an attacker does with it. */
const techniquesOf = (category: string): string[] => [techniqueOf[category] ?? []].flat();

const within = (value: number | undefined, max: number) =>
  value !== undefined && value >= 0 && value <= max ? value : null;

const scoresOf = (classification: Members, warn: (warning: string) => void) => {
  const given = within(numberOf(classification['cvss-score']), 10);
  const vector = textOf(classification['cvss-metrics']).trim();
  const known = vector === '' ? undefined : cvssScoreOf(vector);
  if (vector !== '' && known === undefined) warn('its CVSS vector cannot be read and is left out');
  const differs = given !== null && known?.score !== undefined && Math.abs(known.score - given) >= 0.05;
  if (differs) warn(`its CVSS score is ${given}, but its vector says ${known?.score}`);
  return {
    cvssVector: known === undefined ? '' : vector,
    cvssScore: differs ? (known?.score ?? null) : given,
    epssScore: within(numberOf(classification['epss-score']), 1),
    epssPercentile: within(numberOf(classification['epss-percentile']), 1),
  };
};

interface Content {
  requests: SigRequest[];
  responses: SigResponse[];
  payloads: SigPayload[];
  variables: Record<string, string>;
  combine: 'batteringram' | 'pitchfork' | 'clusterbomb';
}

const attacks = ['batteringram', 'pitchfork', 'clusterbomb'] as const;

const contentOf = (template: Members, warn: (warning: string) => void) => {
  const content: Content = { requests: [], responses: [], payloads: [], variables: {}, combine: 'batteringram' };
  for (const [name, value] of Object.entries(membersOf(template['variables']))) {
    if (!/^[A-Za-z_][A-Za-z0-9_-]{0,63}$/.test(name))
      throw new Refusal(`the variable ${name.slice(0, 40)} is not supported`);
    content.variables[name] = textOf(value).slice(0, 4096);
  }
  for (const block of chainOf(template, warn)) takeHttp(content, membersOf(block), warn);
  for (const block of listOf(template['tcp'] ?? template['network'])) {
    content.requests.push(...tcpRequests(membersOf(block), content.requests.length));
    takeShared(content, membersOf(block), warn);
  }
  const [question, ...more] = listOf(template['dns']).map(membersOf);
  if (question) content.requests.push(dnsRequest(question, content.requests.length));
  if (more.length > 0) warn('only the first DNS question is taken');
  if (content.requests.length === 0) throw new Refusal('the template has neither http, tcp nor dns');
  defineUnknown(content, warn);
  return { ...content, ...(content.payloads.length > 0 && { maxAttempts: 50 }) };
};

/** The HTTP blocks in the order in which `flow` calls them; what else it says is a program and is not run. */
const chainOf = (template: Members, warn: (warning: string) => void): readonly unknown[] => {
  const blocks = listOf(template['http'] ?? template['requests']);
  const flow = textOf(template['flow']);
  if (flow === '') return blocks;
  if (!/^[\s()&|!]*(?:(?:http|dns|tcp)\(\d*\)[\s()&|!;]*)+$/.test(flow))
    warn('its flow is a program; its requests are sent in order');
  const called = [...flow.matchAll(/\bhttp\((\d+)\)/g)].map(([, number]) => blocks[Number(number) - 1]);
  const known = [...new Set(called)].filter((block) => block !== undefined);
  return known.length > 0 ? known : blocks;
};

const defaultValues: Readonly<Record<string, string>> = {
  ...{ username: 'admin', user: 'admin', email: 'admin@site.test', password: 'Passw0rd!', pass: 'Passw0rd!' },
  ...{ token: '{{rand_text_alphanumeric(32)}}', oast: '{{interactsh-url}}', protocol: 'http' },
};

/** Names that a user or an earlier answer would give a value get one of ours. */
const defineUnknown = (content: Content, warn: (warning: string) => void): void => {
  const taken = new Set([...content.payloads.map(({ name }) => name), ...Object.keys(content.variables)]);
  for (const name of unknownNames(JSON.stringify([content.requests, content.variables, content.responses]))) {
    if (taken.has(name)) continue;
    content.variables[name] = defaultValues[name.toLowerCase()] ?? '{{rand_text_alphanumeric(12)}}';
    warn(`{{${name}}} is not defined by the template; a value of ours stands in for it`);
  }
};

const takeHttp = (content: Content, block: Members, warn: (warning: string) => void) => {
  const requests = httpRequests(block, content.requests.length, warn);
  content.requests.push(...requests);
  takeShared(content, block, warn);
};

/** Payloads, names that answers would define, and the answer. */
const takeShared = (content: Content, block: Members, warn: (warning: string) => void) => {
  content.payloads.push(
    ...payloadsOf(block, warn).filter(({ name }) => content.payloads.every((known) => known.name !== name)),
  );
  content.combine =
    attacks.find((attack) => attack === textOf(block['attack'])) ??
    (content.payloads.length > 1 ? 'clusterbomb' : content.combine);
  for (const extractor of listOf(block['extractors']).map(membersOf)) {
    const name = textOf(extractor['name']);
    if (extractor['internal'] !== true || !/^[A-Za-z_][A-Za-z0-9_-]{0,63}$/.test(name)) continue;
    content.variables[name] ??= '{{rand_text_alphanumeric(16)}}';
    warn(`{{${name}}} would come out of an answer; a random text stands in for it`);
  }
  const answer = answerFromMatchers(block, content.requests.length - 1, warn);
  if (answer) content.responses.push(answer);
};
