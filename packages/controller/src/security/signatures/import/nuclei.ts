import type { CveDraft, SigPayload, SigRequest, SigResponse } from '@rushhour/contract';
import { cvssScoreOf } from '../expressions/cvss.ts';
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
const refusedParts = ['code', 'javascript', 'headless', 'file', 'ssl', 'whois', 'websocket', 'workflows', 'flow'];
const severities = ['info', 'low', 'medium', 'high', 'critical', 'unknown'] as const;

export const readNuclei = ({ path, bytes }: TemplateFile): TemplateOutcome[] => {
  const found = { id: path };
  return [
    renamed(
      refusing(path, () => {
        const template = requireMembers(readYaml(bytes), 'the template');
        found.id = textOf(template['id']) || path;
        return templateOf(template, found.id);
      }),
      () => found.id,
    ),
  ];
};

/** A refused template is named by its id if that is readable. */
const renamed = (outcome: TemplateOutcome, idOf: () => string): TemplateOutcome =>
  'refused' in outcome ? { ...outcome, templateId: idOf() } : outcome;

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
  const description = [textOf(info['description']), textOf(info['impact'])].filter((text) => text !== '').join('\n');
  return {
    name: nameOf(textOf(info['name']), templateId),
    description: clipped(description.trim(), 4096),
    cveIDs: cveIdsOf([...wordsOf(classification['cve-id']), templateId]),
    cweIDs: cweIdsOf(wordsOf(classification['cwe-id'])),
    severity,
    ...scoresOf(classification, warn),
    kev: tags.some((tag) => tag.toLowerCase() === 'kev' || tag.toLowerCase() === 'vkev'),
    vendor: clipped(textOf(metadata['vendor']), 128),
    product: clipped(textsOf(metadata['product'])[0] ?? '', 128),
    cpe: clipped(textOf(classification['cpe']), 512),
    techniques: ['T1190'],
    category: categoryOf(tags.join(), textOf(info['name'])),
    tags: tagsOf(tags),
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
  for (const block of listOf(template['http'] ?? template['requests'])) takeHttp(content, membersOf(block), warn);
  for (const block of listOf(template['tcp'] ?? template['network'])) {
    content.requests.push(...tcpRequests(membersOf(block), content.requests.length));
    takeShared(content, membersOf(block), warn);
  }
  const [question, ...more] = listOf(template['dns']).map(membersOf);
  if (question) content.requests.push(dnsRequest(question, content.requests.length));
  if (more.length > 0) warn('only the first DNS question is taken');
  if (content.requests.length === 0) throw new Refusal('the template has neither http, tcp nor dns');
  return { ...content, ...(content.payloads.length > 0 && { maxAttempts: 50 }) };
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
