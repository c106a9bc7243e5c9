import type { ApplicationClientConfig } from '@rushhour/protocol';
import type { EngineContext } from '../../engine.ts';
import type { SourcePool } from '../../net/addresses/source-addresses.ts';
import { LoadDriver } from '../../net/load/load-driver.ts';
import { type Chooser, chooserOf } from '../../net/load/rotation.ts';
import { generatorLoadMetrics } from '../../net/metrics/generator-load-metrics.ts';
import type { Route } from '../../net/transport/transport.ts';
import { portOn, type ReplayTarget, replayTargetsOf, sourceTo, timesNow } from './replay-target.ts';
import { Round } from './round.ts';
import type { Script, ScriptSession } from './script.ts';
import type { MismatchPolicy } from './session/mismatch-policy.ts';
import type { SessionTransports } from './session/session-transports.ts';
import { UserSessionReplay } from './session/user-session-replay.ts';
import { Throttle } from './timing.ts';
import { type LocalValues, localNameOf, type UserIteration, Values, ValuesEnded } from './values.ts';

interface UserPoolDeps {
  readonly context: EngineContext<ApplicationClientConfig>;
  readonly sources: SourcePool;
  readonly transports: SessionTransports;
  readonly mismatchPolicy: MismatchPolicy;
  /** Aborted when sessions in progress must end. */
  readonly signal: AbortSignal;
  readonly onSettled: () => void;
  /** An error that ends the run. */
  readonly onError: (error: Error) => void;
}

type Share = ApplicationClientConfig['shares'][number];

const failurePauseMs = 100;
const unlimited = Number.POSITIVE_INFINITY;

/** The users of one application. Decides which user replays when. */
export class UserPool {
  readonly driver: LoadDriver;
  readonly #script: Script;
  readonly #share: Share;
  readonly #deps: UserPoolDeps;
  readonly #values: Values;
  readonly #choose: Chooser<ReplayTarget>;
  readonly #iterations: Int32Array;
  readonly #throttles = new Map<ScriptSession, Throttle>();
  #left: number;
  #ended = 0;
  active = 0;

  constructor(script: Script, deps: UserPoolDeps) {
    const { config, duration, samples } = deps.context;
    this.#script = script;
    this.#share = config.shares[script.index] as Share;
    this.#deps = deps;
    this.#values = new Values(script.play, config);
    this.#choose = chooserOf(replayTargetsOf(deps.context), config.rotation);
    this.#iterations = new Int32Array(this.#share.users);
    this.#left = this.#share.users;
    const rounds = Math.ceil(duration.count / config.shares.length / script.sessions.length);
    this.driver = new LoadDriver({
      duration,
      load: this.#share.load,
      limit: duration.mode === 'count' ? rounds : unlimited,
      lag: samples.histogram(generatorLoadMetrics.scheduleLag),
      sessionWait: samples.histogram(generatorLoadMetrics.sessionWait),
      createAlarm: deps.transports.plain.createAlarm,
      begin: (slot) => void this.#begin(slot).catch(deps.onError),
    });
    this.#makeThrottles();
  }

  /** No user is active and none will start. */
  get isDone(): boolean {
    return this.active === 0 && (this.#left === 0 || this.driver.isExhausted);
  }

  /** Sessions started per second; 0 without a rate. */
  get sessionRate(): number {
    return (this.#share.load.rate ?? 0) * this.#script.sessions.length;
  }

  start(): void {
    for (let slot = 0; slot < this.#share.users; slot++) this.driver.offer(slot, performance.now());
    this.driver.start();
  }

  changeRate(sessionsPerSecond: number): void {
    this.driver.changeRate(sessionsPerSecond / this.#script.sessions.length);
  }

  reportEnd(note: (remark: string) => void): void {
    if (this.#ended > 0)
      note(`${this.#script.play.name}: ${this.#ended} users ended because a dictionary has no rows left`);
  }

  #makeThrottles(): void {
    const { play, sessions } = this.#script;
    const shared = play.speed.mode === 'bps' || play.speed.mode === 'pps' ? this.#share.rate : undefined;
    const common = shared === undefined ? undefined : new Throttle(play.speed.mode as 'bps' | 'pps', shared);
    for (const session of sessions) {
      const { speed } = session;
      if (speed === play.speed && common !== undefined) this.#throttles.set(session, common);
      else if (speed !== play.speed && (speed.mode === 'bps' || speed.mode === 'pps')) {
        const matcher = this.#share.users / play.users;
        this.#throttles.set(session, new Throttle(speed.mode, speed.value * matcher));
      }
    }
  }

  async #begin(slot: number): Promise<void> {
    const iteration = this.#iterations[slot] as number;
    this.#iterations[slot] = iteration + 1;
    const target = this.#choose(slot);
    this.active++;
    target.meters.users.add(1);
    const userIteration = { user: this.#share.firstUser + slot, iteration };
    const outcome = await this.#play(slot, target, userIteration);
    target.meters.users.add(-1);
    this.active--;
    const isLast = this.#share.iterations > 0 && iteration + 1 >= this.#share.iterations;
    if (outcome === 'ended') this.#ended++;
    if (isLast || outcome === 'ended') this.#left--;
    else if (outcome === 'failed' && !this.driver.isPaced) setTimeout(() => this.#again(slot), failurePauseMs);
    else setImmediate(() => this.#again(slot));
    this.#deps.onSettled();
  }

  #again(slot: number): void {
    if (!this.#deps.signal.aborted) this.driver.offer(slot, performance.now());
  }

  async #play(
    slot: number,
    target: ReplayTarget,
    userIteration: UserIteration,
  ): Promise<'played' | 'failed' | 'ended'> {
    const { context, transports, mismatchPolicy, signal } = this.#deps;
    const from = this.#deps.sources.next(slot);
    try {
      const local = await this.#localOf(target, from.localAddress);
      const replay = new UserSessionReplay(new Round(this.#script, this.#values, userIteration, local), {
        config: context.config,
        ...{ transports, mismatchPolicy, signal },
        meters: target.meters,
        throttleOf: (session) => this.#throttles.get(session),
        routeOf: (session) => {
          const route = this.#routeOf(session, { slot, target, from, user: userIteration.user });
          local.serverPort = String(route.port);
          if (route.localPort !== undefined) local.clientPort = String(route.localPort);
          return route;
        },
      });
      return (await replay.play()) ? 'played' : 'failed';
    } catch (error) {
      if (error instanceof ValuesEnded) return 'ended';
      const kind = error instanceof RangeError ? 'value' : (error as NodeJS.ErrnoException).code;
      if (kind === undefined) throw error;
      target.meters.fail(kind);
      target.meters.ko.add(1);
      return 'failed';
    }
  }

  async #localOf(target: ReplayTarget, localAddress: string | undefined): Promise<LocalValues> {
    const local: LocalValues = { ...timesNow(), serverIp: target.address };
    const usesAddress = this.#script.play.parameters.some((parameter) => localNameOf(parameter) === 'clientIp');
    return usesAddress ? { ...local, clientIp: localAddress ?? (await sourceTo(target.address)) } : local;
  }

  /** All sessions of a round use the same source address. */
  #routeOf(
    session: ScriptSession,
    { slot, target, from, user }: { slot: number; target: ReplayTarget; from: Partial<Route>; user: number },
  ): Route {
    const port = portOn(target, session.port, this.#script.play.firstSlot + user);
    const { localAddress, via } = from;
    const localPort = from.localPort === undefined ? undefined : this.#deps.sources.next(slot).localPort;
    return {
      ...{ address: target.address, port },
      ...(localAddress !== undefined && { localAddress }),
      ...(localPort !== undefined && { localPort }),
      ...(via && { via }),
    };
  }
}
