import { hash } from 'node:crypto';
import {
  type Campaign,
  type CampaignStep,
  type CompromisedHostValues,
  compromisedHostPlugin,
} from '@rushhour/contract';
import { seededRandom } from '@rushhour/pools';

import type { Attempt, Exchange, ScanExchange } from '@rushhour/protocol';
import { paramsOf, stepIssues } from '../../../security/campaigns/action-params.ts';
import { estimateOf } from '../../../security/campaigns/campaigns.ts';
import {
  actions,
  type StepContext,
  type StepExchange,
  type StepParams,
} from '../../../security/campaigns/step-exchanges.ts';
import type { Traffic } from '../../core/load/traffic.ts';
import { endpointsOf } from '../../core/load/traffic-entry.ts';
import { type PlanScope, pointerIn } from '../../core/plan-scope.ts';
import { endsByItself, planner } from '../../core/planner.ts';
import { type AttackService, type PlannedSealedFile, planAttack, sealedFileOf } from './attack.ts';
import { inPackets } from './packet-form.ts';
import { settleScans } from './scan-services.ts';

type Params = CompromisedHostValues['compromisedHostParams'];
type Draft = Omit<Attempt, 'id'>;

/** A campaign as far as it is played: one of ours, or the one of the task. */
interface Played {
  readonly id: number;
  readonly name: string;
  readonly parameters: Campaign['parameters'];
  readonly steps: readonly CampaignStep[];
  readonly given: Readonly<Record<string, string>>;
  readonly path: string;
}

const severities: Readonly<Record<string, Draft['severity']>> = {
  exfiltration: 'high',
  'command-and-control': 'high',
  'lateral-movement': 'high',
  'credential-access': 'high',
};

const playedOf = (scope: PlanScope, { campaignIds, campaignFileIds, campaign, parameters }: Params): Played[] => {
  const pointer = (...parts: (string | number)[]) => pointerIn(scope, 'compromisedHostParams', ...parts);
  const known = campaignIds.flatMap((id, index): Played[] => {
    const found = scope.input.campaigns.get(id);
    if (found === undefined) {
      return scope.issues.error(pointer('campaignIds', index), 'CAMPAIGN_UNKNOWN', `there is no campaign ${id}`) ?? [];
    }
    const { name, parameters: own, steps } = found;
    return [
      { id, name, parameters: own, steps, given: parameters[String(id)] ?? {}, path: pointer('campaignIds', index) },
    ];
  });
  known.push(...inFiles(scope, campaignFileIds, parameters['0'] ?? {}));
  if (campaign === undefined) return known;
  const { name, parameters: own = [], steps } = campaign;
  return [...known, { id: 0, name, parameters: own, steps, given: parameters['0'] ?? {}, path: pointer('campaign') }];
};

/** Campaigns of files; those that cannot be read are reported, and so are parts without traffic. */
const inFiles = (scope: PlanScope, ids: readonly number[], given: Played['given']): Played[] =>
  ids.flatMap((id, index) => {
    const path = pointerIn(scope, 'compromisedHostParams', 'campaignFileIds', index);
    const found = scope.input.campaignFiles.get(id);
    if (found === undefined || 'problem' in found) {
      const message = found === undefined ? `there is no complete file ${id}` : `file ${id}: ${found.problem}`;
      return scope.issues.error(path, 'CAMPAIGN_FILE', message) ?? [];
    }
    return found.campaigns.map(({ name, parameters, steps, leftOut }): Played => {
      if (leftOut.length > 0) scope.issues.caveat(path, 'STEP_LEFT_OUT', `"${name}" without ${leftOut.join('; ')}`);
      return { id: 0, name, parameters, steps, given, path };
    });
  });

type Served = StepExchange & { readonly exchange: Exclude<Exchange, ScanExchange> };
const isServed = (one: StepExchange): one is Served => one.exchange.protocol !== 'scan';

const serviceOf = ({ exchange, port, isTls = false }: Served): AttackService => {
  const { protocol } = exchange;
  const transport = protocol === 'icmp' ? 'icmp' : 'transport' in exchange ? exchange.transport : 'tcp';
  // A server that speaks first says the same to everybody.
  const greeting = 'greeting' in exchange ? JSON.stringify(exchange.greeting) : '';
  const own = greeting === '' ? '' : `-${hash('sha256', greeting).slice(0, 8)}`;
  return { service: `${protocol}-${transport}-${port}${own}`, protocol, transport, isTls, port };
};

/** Scans get theirs when all others have one. */
const notYet: AttackService = { service: 'none', protocol: 'raw', transport: 'tcp', isTls: false, port: 0 };

const maxSteps = 50_000;
const maxBytes = 32 * 1024 * 1024;

/** About as many bytes as the exchange takes in the file of attempts. */
const sizeOf = (exchange: Exchange): number => {
  const contents = JSON.stringify(exchange, (key, value) => (key === 'data' ? (value as string).length : value));
  const lengths = contents.match(/"data":(\d+)/g) ?? [];
  return contents.length + lengths.reduce((sum, text) => sum + Number(text.slice(7)), 0);
};

/** Whether all agents of these sides of the entry have raw sockets. */
const haveRawSockets = ({ input, entry }: PlanScope, ...sides: ('sources' | 'targets')[]): boolean =>
  sides
    .flatMap((side) => endpointsOf(entry, side))
    .flatMap(({ agent }) => (agent === undefined ? [] : (input.agents.get(agent.id) ?? [])))
    .every(({ engines }) =>
      engines.some(({ engine, available, way }) => engine === 'icmp' && available && way !== 'ping socket'),
    );

/** Everything that is made while campaigns are played. */
class Stage {
  readonly attempts: Draft[] = [];
  readonly services = new Map<number, AttackService>();
  readonly files = new Map<string, PlannedSealedFile>();
  readonly #scope: PlanScope;
  readonly #params: Params;
  readonly #random = seededRandom(19);
  readonly #reported = new Set<string>();
  readonly #canEcho: boolean;
  readonly #seesClosedPorts: boolean;
  #waitMs = 0;
  #startMs = 0;
  #bytes = 0;

  constructor(scope: PlanScope, params: Params) {
    this.#scope = scope;
    this.#params = params;
    this.#canEcho = haveRawSockets(scope, 'sources', 'targets');
    this.#seesClosedPorts = haveRawSockets(scope, 'targets');
  }

  /** Hosts begin one after another within the time for that. */
  beginHost(host: number): void {
    const { startSpreadMs, hosts } = this.#params;
    this.#startMs = (startSpreadMs * host) / hosts;
  }

  play(played: Played, host: number, round = 0): void {
    const lastOf = new Map<number, number>();
    for (const step of played.steps) {
      const params = paramsOf(step, played, played.given);
      if (step.action === 'wait') this.#waitMs += Number(params['ms']);
      else if (step.action === 'icmp-beacon' && !this.#canEcho) {
        this.#reportLeftOut(played, step, 'echoes need raw sockets on both sides');
      } else {
        for (let iteration = 0; iteration < step.repeat && !this.isFull; iteration += 1) {
          this.#act(played, { step, params, iteration: round * step.repeat + iteration, host, lastOf, round });
        }
      }
    }
  }

  /** More than a run can hold: nothing more is made. */
  get isFull(): boolean {
    return this.attempts.length > maxSteps || this.#bytes > maxBytes;
  }

  #act(played: Played, { step, params, iteration, host, lastOf, round }: Iteration): void {
    const name = `${played.name} ${host}`;
    const { domain } = this.#params.c2;
    const findSample = (...request: Parameters<StepContext['findSample']>) => this.#sampleOf(...request);
    const findWords = (id: number) => this.#scope.input.dictionaries.get(id)?.values;
    const act = actions[step.action as keyof typeof actions];
    for (const one of act({
      step,
      params: params as unknown as StepParams,
      iteration,
      name: `${name} ${step.idx}`,
      domain,
      findSample,
      findWords,
      seesClosedPorts: this.#seesClosedPorts,
    })) {
      const service = isServed(one) ? this.#serviceFor(one) : notYet;
      this.#bytes += sizeOf(one.exchange);
      if (service === undefined) this.#reportLeftOut(played, step, `another protocol on port ${one.port}`);
      else this.attempts.push(this.#attempt(played, one, { step, service, host, lastOf, round }));
    }
    lastOf.set(step.idx, this.attempts.length - 1);
  }

  #attempt(played: Played, one: StepExchange, { step, service, host, lastOf, round }: Placed): Draft {
    const { speedFactor, hosts, stopOnBlock } = this.#params;
    const jitter = 1 + ((this.#random() * 2 - 1) * step.jitterPct) / 100;
    const waitMs = ((step.delayMs + (one.delayMs ?? 0)) * jitter + this.#waitMs) / speedFactor;
    const delayMs = Math.round(waitMs + this.#startMs);
    this.#waitMs = 0;
    this.#startMs = 0;
    const requires = step.requires.flatMap((idx) => lastOf.get(idx) ?? []);
    const own = `${hosts > 1 ? `host ${host + 1}/` : ''}${round > 0 ? `round ${round + 1}/` : ''}`;
    return {
      kind: 'campaign',
      refId: played.id,
      refName: played.name,
      variant: `${own}${step.idx + 1} ${step.name}`,
      category: step.tactic,
      expected: step.expect,
      severity: severities[step.tactic] ?? 'medium',
      techniques: step.technique === '' ? [] : [step.technique],
      direction: one.direction ?? 'c2s',
      service: service.service,
      exchange: one.exchange as Exchange,
      ...(one.addressIndex !== undefined && { addressIndex: one.addressIndex }),
      ...(hosts > 1 && { host }),
      channel: `${host}/${played.id}/${step.idx}/${round}`,
      onBlocked: stopOnBlock ? 'stop' : step.onBlocked,
      ...(delayMs > 0 && { delayMs }),
      ...(requires.length > 0 && { requires }),
    };
  }

  /** A port carries one protocol; a second that wants it is left out. */
  #serviceFor(one: Served): AttackService | undefined {
    const wanted = serviceOf(one);
    const known = this.services.get(wanted.port);
    if (known === undefined) this.services.set(wanted.port, wanted);
    const isSame = known === undefined || (known.service === wanted.service && known.isTls === wanted.isTls);
    return isSame ? wanted : undefined;
  }

  #sampleOf(kind: string, container: string, fileID: number | undefined) {
    const { samples } = this.#scope.input;
    const wrapped = container === 'none' ? '' : container;
    const sample =
      fileID === undefined
        ? [...samples.values()].find((one) => one.isBuiltin && one.kind === kind && one.container.join() === wrapped)
        : samples.get(fileID);
    const copy = sample?.copies.get('none');
    if (copy === undefined) return undefined;
    this.files.set(copy.plainSha256, sealedFileOf(copy));
    return { file: copy.plainSha256 };
  }

  #reportLeftOut({ path }: Played, { idx, name }: CampaignStep, what: string): void {
    if (this.#reported.has(`${path} ${idx}`)) return;
    this.#reported.add(`${path} ${idx}`);
    this.#scope.issues.caveat(path, 'STEP_LEFT_OUT', `step ${idx + 1} "${name}" is left out: ${what}`);
  }
}

interface Iteration {
  readonly step: CampaignStep;
  readonly params: Record<string, unknown>;
  readonly iteration: number;
  readonly host: number;
  readonly lastOf: Map<number, number>;
  readonly round: number;
}
interface Placed extends Pick<Iteration, 'step' | 'host' | 'lastOf' | 'round'> {
  readonly service: AttackService;
}

const reportUnsound = (scope: PlanScope, played: Played): boolean => {
  const issues = played.steps.flatMap((step) =>
    stepIssues(step, played, `${played.path}/steps/${step.idx}`, played.given),
  );
  for (const { path, code, message } of issues) scope.issues.error(path, code, message);
  return issues.length === 0;
};

const maxRounds = 10_000;

/** How often campaigns can be played in the time of the run; the end of the run cuts the last of them. */
const roundsOf = (
  scope: PlanScope,
  { speedFactor, hosts }: Params,
  played: readonly Played[],
  attempts: number,
): number => {
  const { mode, seconds } = scope.entry.values.duration;
  if (mode !== 'time') {
    const path = pointerIn(scope, 'compromisedHostParams', 'loop');
    scope.issues.error(path, 'DURATION_MISSING', 'playing again and again needs a duration in seconds');
    return 1;
  }
  const waitsMs = played.reduce((sum, { steps, parameters }) => sum + estimateOf(steps, parameters), 0);
  const roundSec = Math.max(waitsMs / 1000 / speedFactor, attempts / rateFor(hosts), 0.001);
  return Math.min(maxRounds, Math.ceil(seconds / roundSec));
};

const rateFor = (hosts: number) => Math.max(20, hosts * 10);

const maxHosts = 1000;

/** Hosts that behave as if an attacker controlled them, towards server agents only. */
const planCompromisedHost = (scope: PlanScope, { compromisedHostParams: params }: CompromisedHostValues): Traffic => {
  const stage = new Stage(scope, params);
  const pointer = (member: string) => pointerIn(scope, 'compromisedHostParams', member);
  if (params.background !== undefined) {
    scope.issues.caveat(pointer('background'), 'NOT_SUPPORTED', 'put ordinary traffic into an entry of its own');
  }
  const played = playedOf(scope, params).filter((one) => reportUnsound(scope, one));
  const hosts = Math.min(params.hosts, maxHosts);
  const playRound = (round: number) => {
    for (let host = 0; host < hosts && !stage.isFull; host += 1) {
      if (round === 0) stage.beginHost(host);
      for (const one of played) stage.play(one, host, round);
    }
  };
  playRound(0);
  const rounds = params.loop ? roundsOf(scope, params, played, stage.attempts.length) : 1;
  for (let round = 1; round < rounds && !stage.isFull; round += 1) playRound(round);
  if (stage.isFull) {
    const message = `more than ${maxSteps} steps or ${maxBytes} bytes: take fewer hosts, campaigns or repetitions`;
    scope.issues.error(pointerIn(scope, 'compromisedHostParams'), 'TOO_MANY_ATTEMPTS', message);
  }
  const attempts = settleScans(stage.attempts, stage.services);
  return planAttack(scope, {
    engine: 'compromised-host',
    attempts: inPackets(attempts, params.packets),
    services: [...stage.services.values()],
    files: [...stage.files.values()],
    ratePerSecond: rateFor(hosts),
    concurrency: 1,
    marker: params.marker,
    detection: params.detection,
    detectionMember: 'compromisedHostParams',
  });
};

export const compromisedHostPlanner = planner(compromisedHostPlugin, planCompromisedHost, { durationOf: endsByItself });
