import { type WafValues, wafPlugin } from '@rushhour/contract';
import { seededRandom, shuffled } from '@rushhour/pools';

import type { Attempt, HttpRequest } from '@rushhour/protocol';
import { benignTexts } from '../../../security/content/waf/benign.ts';
import { siteRequest, siteRequestCount } from '../../../security/content/waf/benign-sites.ts';
import { encoders } from '../../../security/content/waf/encoders.ts';
import { answerTo, defaultGrpc, type GrpcForm } from '../../../security/content/waf/grpc-call.ts';
import { familyPayloads } from '../../../security/content/waf/payload-families.ts';
import { payloadSets } from '../../../security/content/waf/payloads.ts';
import { naturalPlaceholders, type PlaceholderOptions, requestOf } from '../../../security/content/waf/placeholders.ts';
import type { Traffic } from '../../core/load/traffic.ts';
import { type PlanScope, pointerIn } from '../../core/plan-scope.ts';
import { endsByItself, planner } from '../../core/planner.ts';
import { dictionaryValues } from '../payloads.ts';
import { type AttackPlan, planAttack } from './attack.ts';
import { carriedHeaders } from './attempt-headers.ts';
import { inPackets } from './packet-form.ts';
import { grpcFormOf } from './waf-grpc.ts';
import { signatureAttempts } from './waf-signatures.ts';

type Modules = WafValues['wafModules'] & { readonly grpc: GrpcForm };
type Module = Modules['modules'][number];
type Draft = Omit<Attempt, 'id'>;

const defaultPort = { plain: 18_081, tls: 18_444 } as const;

/** Attacks in many forms and harmless requests among them. */
const planWaf = (scope: PlanScope, values: WafValues): Traffic => {
  const { tlsParams } = values;
  const wafModules = { ...withHttpParams(values), grpc: grpcFormOf(scope, values.wafModules.http.grpc) };
  const prepared = wafModules.modules.flatMap((module, index) => prepareModule(scope, wafModules, module, index) ?? []);
  const isValid = fits(scope, wafModules, prepared);
  const made = isValid ? prepared.flatMap((one) => attacksOf(wafModules, one)) : [];
  const attacks = inPackets(made, wafModules.packets);
  const benign = isValid ? benignOf(scope, wafModules) : [];
  const random = seededRandom(wafModules.seed);
  const isShuffled = wafModules.order === 'shuffle';
  const attempts = isShuffled ? shuffled([...attacks, ...benign], random) : [...attacks, ...benign];
  reportUnsupported(scope, wafModules);
  const isTls = wafModules.http.tls;
  const plan: AttackPlan = {
    engine: 'waf',
    attempts,
    services: [
      { service: 'http', protocol: 'http', transport: 'tcp', isTls, port: isTls ? defaultPort.tls : defaultPort.plain },
    ],
    tls: tlsParams,
    keepAlive: wafModules.http.keepAlive,
    followCookies: wafModules.http.followCookies,
    ratePerSecond: wafModules.ratePerSecond,
    concurrency: wafModules.concurrency,
    timeoutMs: values.httpParams.timeoutMs,
    host: wafModules.http.hosts[0] ?? values.httpParams.host,
    basePath: wafModules.http.basePath,
    calibration: wafModules.calibration,
    addressRotation: rotationOf(wafModules.clientIpRotation),
    detection: wafModules.detection,
    detectionMember: 'wafModules',
  };
  return planAttack(scope, plan);
};

/** Members of `httpParams` hold where `wafModules.http` says nothing. */
const withHttpParams = ({ wafModules, httpParams }: WafValues): WafValues['wafModules'] => {
  const { http, modules } = wafModules;
  const hosts = http.hosts.length > 0 || httpParams.host === undefined ? http.hosts : [httpParams.host];
  const taken = new Set(http.headers.map(({ name }) => name.toLowerCase()));
  const more = carriedHeaders(httpParams).filter(({ name }) => !taken.has(name.toLowerCase()));
  return {
    ...wafModules,
    modules: modules.map((module) => ({
      ...module,
      placeholders: module.placeholders.length > 0 ? module.placeholders : naturalPlaceholders(module.name),
      padKb: module.padKb.length === 0 && module.name === 'large-body' ? [8, 64, 128] : module.padKb,
    })),
    http: { ...http, hosts, headers: [...http.headers, ...more] },
  };
};

const rotationOf = (wanted: string): NonNullable<AttackPlan['addressRotation']> =>
  wanted === 'perRequest' ? 'perAttempt' : (wanted as 'none' | 'onShun');

const reportUnsupported = (scope: PlanScope, { http, modules, benign }: Modules): void => {
  if (http.methods.length > 0) {
    const message = 'the method follows from the location of the payload';
    scope.issues.caveat(pointerIn(scope, 'wafModules', 'http', 'methods'), 'NOT_SUPPORTED', message);
  }
  const used = new Set([...modules, ...(benign.enabled ? [benign] : [])].flatMap(({ placeholders }) => placeholders));
  if (!used.has('grpc') && http.grpc.method !== defaultGrpc.method) {
    const message = 'has no effect: no payload is sent in gRPC calls';
    scope.issues.caveat(pointerIn(scope, 'wafModules', 'http', 'grpc', 'method'), 'NOT_SUPPORTED', message);
  }
  if (used.size > 1 && used.has('grpc') && http.versions.includes('1.1')) {
    const message = 'gRPC calls use HTTP/2, payloads elsewhere HTTP/1.1: the device must accept both on this port';
    scope.issues.caveat(pointerIn(scope, 'wafModules', 'http', 'versions'), 'MIXED_VERSIONS', message);
  }
};

const placeholderOptions = ({ http, grpc }: Modules, ordinal: number): PlaceholderOptions => {
  const host = http.hosts[ordinal % Math.max(1, http.hosts.length)];
  return {
    basePath: http.basePath,
    headers: [...(host === undefined ? [] : [{ name: 'Host', value: host }]), ...http.headers],
    version: http.versions[ordinal % Math.max(1, http.versions.length)] ?? '1.1',
    grpc,
  };
};

const payloadsOf = (
  scope: PlanScope,
  { name, dictionaryIds, payloadSet }: Module,
  index: number,
): readonly string[] => {
  const core = payloadSets[name]?.payloads ?? [];
  if (dictionaryIds.length === 0)
    return payloadSet === 'extended' ? [...new Set([...core, ...familyPayloads(name)])] : core;
  return dictionaryIds.flatMap((id, i) => {
    const path = pointerIn(scope, 'wafModules', 'modules', index, 'dictionaryIds', i);
    return dictionaryValues(scope, id, path) ?? [];
  });
};

interface Form {
  readonly payload: number;
  readonly encoder: string;
  readonly placeholder: string;
  readonly padKb: number;
}

/** How many forms there are of so many payloads, and the n-th of them: they are never all made. */
const formsOf = ({ encoders: wanted, placeholders, padKb }: Module, payloads: number) => {
  const pads = padKb.length === 0 ? [0] : padKb;
  const count = payloads * wanted.length * placeholders.length * pads.length;
  const at = (n: number): Form => {
    const [perPlaceholder, perEncoder] = [pads.length, pads.length * placeholders.length];
    return {
      payload: Math.floor(n / (perEncoder * wanted.length)),
      encoder: wanted[Math.floor(n / perEncoder) % wanted.length] as string,
      placeholder: placeholders[Math.floor(n / perPlaceholder) % placeholders.length] as string,
      padKb: pads[n % perPlaceholder] as number,
    };
  };
  return { count, at };
};

const variantOf = ({ encoder, placeholder, padKb }: Form): string =>
  [encoder, placeholder, ...(padKb > 0 ? [`${padKb}k`] : [])].join('/');

interface Prepared {
  readonly module: Module;
  readonly index: number;
  readonly payloads: readonly string[];
  readonly forms: ReturnType<typeof formsOf>;
  /** Whole requests of signatures, which come before the forms. */
  readonly signatures: readonly Draft[];
  /** Forms that are made. */
  readonly wanted: number;
}

const prepareModule = (scope: PlanScope, wafModules: Modules, module: Module, index: number): Prepared | undefined => {
  if (!module.enabled) return undefined;
  const payloads = payloadsOf(scope, module, index);
  const forms = formsOf(module, payloads.length);
  const path = pointerIn(scope, 'wafModules', 'modules', index);
  const signatures = signatureAttempts(scope, {
    ...{ module, path, seed: wafModules.seed, allowIntrusive: wafModules.allowIntrusive },
    max: { attempts: Math.min(module.maxRequests, maxAttempts + 1), bytes: maxBytes },
    optionsOf: (ordinal) => placeholderOptions(wafModules, ordinal),
  });
  const total = forms.count + signatures.length;
  if (total === 0 && module.signatureIds.length === 0) {
    scope.issues.error(path, 'NO_ATTEMPTS', `${module.name} has no payloads: name dictionaries or signatures`);
  }
  if (total > module.maxRequests) {
    const message = `${module.maxRequests} of ${total} possible requests are sent, chosen by the random seed`;
    scope.issues.caveat(`${path}/maxRequests`, 'REQUESTS_CUT', message);
  }
  return { module, index, payloads, forms, signatures, wanted: module.maxRequests - signatures.length };
};

/** Most attempts and most bytes of all of them together. */
const maxAttempts = 50_000;
const maxBytes = 64 * 1024 * 1024;
const plainBytes = 600;
/** As much of a payload as reports show. */
const maxPayload = 2048;

const bytesOf = (drafts: readonly Draft[]) => drafts.reduce((sum, draft) => sum + JSON.stringify(draft).length, 0);

/** Whether a plan can hold it all, reckoned before any of it is made. */
const fits = (scope: PlanScope, { http, benign }: Modules, prepared: readonly Prepared[]): boolean => {
  const eachBytes = plainBytes + JSON.stringify(http.headers).length + http.basePath.length;
  const sizes = prepared.map(({ module, payloads, forms, signatures, wanted }) => {
    const longest = payloads.reduce((max, { length }) => Math.max(max, length), 0);
    const count = Math.min(forms.count, wanted);
    const bytes = count * (eachBytes + longest * 12 + Math.max(0, ...module.padKb) * 1400);
    return { count: count + signatures.length, bytes: bytes + bytesOf(signatures) };
  });
  const harmless = benign.enabled ? benign.sample : 0;
  const count = sizes.reduce((sum, size) => sum + size.count, harmless);
  const bytes = sizes.reduce((sum, size) => sum + size.bytes, harmless * eachBytes);
  if (count <= maxAttempts && bytes <= maxBytes) return true;
  const message = `${count} requests of about ${bytes} bytes; the maximum is ${maxAttempts} of ${maxBytes} bytes`;
  scope.issues.error(pointerIn(scope, 'wafModules', 'modules'), 'TOO_MANY_ATTEMPTS', message);
  return false;
};

const attacksOf = (
  wafModules: Modules,
  { module, index, payloads, forms, signatures, wanted }: Prepared,
): readonly Draft[] => [
  ...signatures,
  ...chosen(forms.count, wanted, seededRandom(wafModules.seed + index)).flatMap((n, ordinal) => {
    const form = forms.at(n);
    return attackOf(wafModules, module, form, payloads[form.payload] ?? '', ordinal) ?? [];
  }),
];

const attackOf = (
  wafModules: Modules,
  module: Module,
  form: Form,
  payload: string,
  ordinal: number,
): Draft | undefined => {
  const set = payloadSets[module.name];
  const encoded = (encoders[form.encoder] as (typeof encoders)[string])(payload);
  // What goes before it is the same in every writing.
  const value = { ...encoded, text: `${'a'.repeat(form.padKb * 1024)}${encoded.text}` };
  const request = requestOf(form.placeholder, value, placeholderOptions(wafModules, ordinal));
  if (request === undefined) return undefined;
  return {
    kind: 'waf',
    payload: payload.slice(0, maxPayload).toWellFormed(),
    refId: module.dictionaryIds[0] ?? 0,
    refName: `${module.name} ${form.payload + 1}`,
    variant: variantOf(form),
    category: module.name,
    expected: 'block',
    severity: set?.severity ?? 'medium',
    techniques: [...(set?.techniques ?? [])],
    direction: 'c2s',
    service: 'http',
    exchange: { protocol: 'http', steps: [{ request, answer: answerTo(request) }] },
  };
};

/** So many different numbers below a count, in order where all are taken. */
const chosen = (count: number, max: number, random: () => number): readonly number[] => {
  if (count <= max) return Array.from({ length: count }, (_, n) => n);
  const numbers = new Set<number>();
  while (numbers.size < max) numbers.add(Math.floor(random() * count));
  return [...numbers];
};

/** Whole requests of sites, with the hosts and headers of the task. */
const siteDrafts = (wafModules: Modules): Draft[] =>
  chosen(siteRequestCount, wafModules.benign.sample, seededRandom(wafModules.seed)).map((n, ordinal) => {
    const { kind, request } = siteRequest(n);
    const { headers, version, basePath } = placeholderOptions(wafModules, ordinal);
    const own = new Set(request.headers.map(({ name }) => name.toLowerCase()));
    const added = headers.filter(({ name }) => !own.has(name.toLowerCase()));
    const path = `${basePath.replace(/\/$/, '')}${request.path}`;
    const sent = { ...request, path, version, headers: [...added, ...request.headers] };
    return benignDraft(kind, n, `plain/${kind}`, sent);
  });

const benignDraft = (kind: string, index: number, variant: string, request: HttpRequest, refId = 0): Draft => ({
  kind: 'benign',
  refId,
  refName: `${kind} ${index + 1}`,
  variant,
  category: kind,
  expected: 'allow',
  severity: 'info',
  techniques: [],
  direction: 'c2s',
  service: 'http',
  exchange: { protocol: 'http', steps: [{ request, answer: answerTo(request) }] },
});

const benignOf = (scope: PlanScope, wafModules: Modules): Draft[] => {
  const { enabled, sample, dictionaryIds, placeholders, content } = wafModules.benign;
  if (!enabled) return [];
  if (content === 'sites' && dictionaryIds.length === 0) return siteDrafts(wafModules);
  const own = dictionaryIds.flatMap((id, i) =>
    (dictionaryValues(scope, id, pointerIn(scope, 'wafModules', 'benign', 'dictionaryIds', i)) ?? []).map((text) => ({
      kind: 'dictionary',
      text,
    })),
  );
  const texts = dictionaryIds.length === 0 ? benignTexts : own;
  const picked = chosen(texts.length * placeholders.length, sample, seededRandom(wafModules.seed));
  return picked.flatMap((n, ordinal) => {
    const index = n % texts.length;
    const placeholder = placeholders[Math.floor(n / texts.length)] as string;
    const { kind, text } = texts[index] as (typeof texts)[number];
    const request = requestOf(placeholder, { text, isUrlSafe: false }, placeholderOptions(wafModules, ordinal));
    if (request === undefined) return [];
    return benignDraft(kind, index, `plain/${placeholder}`, request, dictionaryIds[0]);
  });
};

export const wafPlanner = planner(wafPlugin, planWaf, { durationOf: endsByItself });
