import type { WafValues } from '@rushhour/contract';
import type { Attempt, HttpAnswer } from '@rushhour/protocol';
import { benignTexts } from '../../../content/waf/benign.ts';
import { encoders } from '../../../content/waf/encoders.ts';
import { payloadSets } from '../../../content/waf/payloads.ts';
import { type PlaceOptions, places, requestOf } from '../../../content/waf/placeholders.ts';
import { type AttackPlan, planAttack } from '../attempts.ts';
import { dictionaryValues } from '../payloads.ts';
import { type PlanScope, pointerIn } from '../plan-scope.ts';
import { randomOf, shuffled } from '../random.ts';
import type { Traffic } from '../traffic.ts';

type Modules = WafValues['wafModules'];
type Module = Modules['modules'][number];
type Draft = Omit<Attempt, 'id'>;

const usualPort = { plain: 18_081, tls: 18_444 } as const;
const answer: HttpAnswer = { mode: 'canned', status: 200, headers: [] };

/** Attacks in many forms and harmless requests among them. */
export const planWaf = (scope: PlanScope): Traffic => {
  const values = scope.leaf.values as unknown as WafValues;
  const { wafModules, tlsParams } = values;
  const attacks = wafModules.modules.flatMap((module, index) => attacksOf(scope, wafModules, module, index));
  const benign = benignOf(scope, wafModules);
  const random = randomOf(wafModules.seed);
  const isShuffled = wafModules.order === 'shuffle';
  const attempts = isShuffled ? shuffled([...attacks, ...benign], random) : [...attacks, ...benign];
  tellUnsupported(scope, wafModules);
  const isTls = wafModules.http.tls;
  const plan: AttackPlan = {
    engine: 'waf',
    attempts,
    services: [
      { service: 'http', protocol: 'http', transport: 'tcp', isTls, port: isTls ? usualPort.tls : usualPort.plain },
    ],
    tls: tlsParams,
    ratePerSecond: wafModules.ratePerSecond,
    concurrency: wafModules.concurrency,
    timeoutMs: Math.min(values.httpParams.timeoutMs, wafModules.detection.control.timeoutMs),
    addressRotation: rotationOf(wafModules.clientIpRotation),
    detection: wafModules.detection,
  };
  return planAttack(scope, plan);
};

const rotationOf = (wished: string): NonNullable<AttackPlan['addressRotation']> =>
  wished === 'perRequest' ? 'perAttempt' : (wished as 'none' | 'onShun');

const tellUnsupported = (scope: PlanScope, { http, modules }: Modules): void => {
  if (http.versions.includes('2')) {
    scope.issues.caveat(pointerIn(scope, 'wafModules', 'http', 'versions'), 'NOT_SUPPORTED', 'HTTP/1.1 is used');
  }
  modules.forEach(({ placeholders }, index) => {
    const unknown = placeholders.filter((place) => places[place] === undefined);
    if (unknown.length === 0) return;
    const path = pointerIn(scope, 'wafModules', 'modules', index, 'placeholders');
    scope.issues.caveat(path, 'NOT_SUPPORTED', `${unknown.join(', ')} cannot be carried by HTTP/1.1 and is left out`);
  });
};

const placeOptions = ({ http }: Modules, turn: number): PlaceOptions => {
  const host = http.hosts[turn % Math.max(1, http.hosts.length)];
  return {
    basePath: http.basePath,
    headers: [...(host === undefined ? [] : [{ name: 'Host', value: host }]), ...http.headers],
    version: '1.1',
  };
};

const payloadsOf = (scope: PlanScope, { name, dictionaryIds }: Module, index: number): readonly string[] => {
  if (dictionaryIds.length === 0) return payloadSets[name]?.payloads ?? [];
  return dictionaryIds.flatMap((id, i) => {
    const path = pointerIn(scope, 'wafModules', 'modules', index, 'dictionaryIds', i);
    return dictionaryValues(scope, id, path) ?? [];
  });
};

interface Form {
  readonly payload: number;
  readonly encoder: string;
  readonly place: string;
  readonly padKb: number;
}

/** Every payload in every writing, place and padding. */
const formsOf = ({ encoders: wished, placeholders, padKb }: Module, payloads: readonly string[]): Form[] =>
  payloads.flatMap((_, payload) =>
    wished.flatMap((encoder) =>
      placeholders.flatMap((place) =>
        (padKb.length === 0 ? [0] : padKb).map((kilobytes) => ({ payload, encoder, place, padKb: kilobytes })),
      ),
    ),
  );

const variantOf = ({ encoder, place, padKb }: Form): string =>
  [encoder, place, ...(padKb > 0 ? [`${padKb}k`] : [])].join('/');

const attacksOf = (scope: PlanScope, wafModules: Modules, module: Module, index: number): Draft[] => {
  if (!module.enabled) return [];
  const payloads = payloadsOf(scope, module, index);
  const set = payloadSets[module.name];
  const forms = formsOf(module, payloads).filter(({ place }) => places[place] !== undefined);
  const path = pointerIn(scope, 'wafModules', 'modules', index);
  if (forms.length === 0) scope.issues.error(path, 'NO_ATTEMPTS', `${module.name} has no payloads: name dictionaries`);
  if (forms.length > module.maxRequests) {
    const message = `${forms.length} requests would be made; ${module.maxRequests} of them, chosen by the seed, are`;
    scope.issues.caveat(`${path}/maxRequests`, 'REQUESTS_CUT', message);
  }
  const chosen =
    forms.length > module.maxRequests
      ? shuffled(forms, randomOf(wafModules.seed + index)).slice(0, module.maxRequests)
      : forms;
  return chosen.flatMap((form, turn) => {
    const text = `${' '.repeat(form.padKb * 1024)}${payloads[form.payload] ?? ''}`;
    const request = requestOf(
      form.place,
      (encoders[form.encoder] as (typeof encoders)[string])(text),
      placeOptions(wafModules, turn),
    );
    if (request === undefined) return [];
    return {
      kind: 'waf',
      refId: module.dictionaryIds[0] ?? 0,
      refName: `${module.name} ${form.payload + 1}`,
      variant: variantOf(form),
      category: module.name,
      expected: 'block',
      severity: set?.severity ?? 'medium',
      techniques: [...(set?.techniques ?? [])],
      direction: 'c2s',
      service: 'http',
      exchange: { protocol: 'http', steps: [{ request, answer }] },
    };
  });
};

const benignOf = (scope: PlanScope, wafModules: Modules): Draft[] => {
  const { enabled, sample, dictionaryIds, placeholders } = wafModules.benign;
  if (!enabled) return [];
  const own = dictionaryIds.flatMap((id, i) =>
    (dictionaryValues(scope, id, pointerIn(scope, 'wafModules', 'benign', 'dictionaryIds', i)) ?? []).map((text) => ({
      kind: 'dictionary',
      text,
    })),
  );
  const texts = dictionaryIds.length === 0 ? benignTexts : own;
  const usable = placeholders.filter((place) => places[place] !== undefined);
  const forms = usable.flatMap((place) => texts.map((benign, index) => ({ ...benign, index, place })));
  const chosen = forms.length > sample ? shuffled(forms, randomOf(wafModules.seed)).slice(0, sample) : forms;
  return chosen.flatMap(({ kind, text, index, place }, turn) => {
    const request = requestOf(place, { text, isUrlSafe: false }, placeOptions(wafModules, turn));
    if (request === undefined) return [];
    return {
      kind: 'benign',
      refId: dictionaryIds[0] ?? 0,
      refName: `${kind} ${index + 1}`,
      variant: `plain/${place}`,
      category: kind,
      expected: 'allow',
      severity: 'info',
      techniques: [],
      direction: 'c2s',
      service: 'http',
      exchange: { protocol: 'http', steps: [{ request, answer }] },
    };
  });
};
