import type { ApplicationClientConfig } from '@rushhour/protocol';
import type { EngineContext } from '../../engine.ts';
import type { SourcePool } from '../../net/addresses/source-addresses.ts';
import { LoadDriver } from '../../net/load/load-driver.ts';
import { type Chooser, chooserOf } from '../../net/load/rotation.ts';
import { strainMetrics } from '../../net/metrics/generator-load-metrics.ts';
import type { Route, Transport } from '../../net/transport/transport.ts';
import { Performance } from './performance.ts';
import type { Referee } from './referee.ts';
import { Round } from './round.ts';
import type { Script, ScriptSession } from './script.ts';
import { Throttle } from './timing.ts';
import { type LocalValues, localNameOf, type Turn, Values, ValuesEnded } from './values.ts';
import { portOn, sourceTo, timesNow, type Way, waysOf } from './way.ts';

interface CompanyDeps {
  readonly context: EngineContext<ApplicationClientConfig>;
  readonly sources: SourcePool;
  readonly transport: Transport;
  readonly referee: Referee;
  /** Fires when what is under way must end. */
  readonly signal: AbortSignal;
  readonly onSettled: () => void;
  /** Something that ends the run. */
  readonly onError: (error: Error) => void;
}

type Share = ApplicationClientConfig['shares'][number];

const failurePauseMs = 100;
const unlimited = Number.POSITIVE_INFINITY;

/** The users of one application: who plays when. */
export class Company {
  readonly driver: LoadDriver;
  readonly #script: Script;
  readonly #share: Share;
  readonly #deps: CompanyDeps;
  readonly #values: Values;
  readonly #choose: Chooser<Way>;
  readonly #iterations: Int32Array;
  readonly #throttles = new Map<ScriptSession, Throttle>();
  #left: number;
  #ended = 0;
  active = 0;

  constructor(script: Script, deps: CompanyDeps) {
    const { config, duration, samples } = deps.context;
    this.#script = script;
    this.#share = config.shares[script.index] as Share;
    this.#deps = deps;
    this.#values = new Values(script.play, config);
    this.#choose = chooserOf(waysOf(deps.context), config.rotation);
    this.#iterations = new Int32Array(this.#share.users);
    this.#left = this.#share.users;
    const rounds = Math.ceil(duration.count / config.shares.length / script.sessions.length);
    this.driver = new LoadDriver({
      duration,
      load: this.#share.load,
      limit: duration.mode === 'count' ? rounds : unlimited,
      lag: samples.histogram(strainMetrics.scheduleLag),
      createAlarm: deps.transport.createAlarm,
      begin: (place) => void this.#begin(place).catch(deps.onError),
    });
    this.#makeThrottles();
  }

  /** Nobody plays, and nobody will. */
  get isDone(): boolean {
    return this.active === 0 && (this.#left === 0 || this.driver.isExhausted);
  }

  /** Sessions that are begun in a second; 0 where it is not said. */
  get sessionRate(): number {
    return (this.#share.load.rate ?? 0) * this.#script.sessions.length;
  }

  start(): void {
    for (let place = 0; place < this.#share.users; place++) this.driver.offer(place, performance.now());
    this.driver.start();
  }

  changeRate(sessionsPerSecond: number): void {
    this.driver.changeRate(sessionsPerSecond / this.#script.sessions.length);
  }

  tellEnd(note: (remark: string) => void): void {
    if (this.#ended > 0)
      note(`${this.#script.play.name}: ${this.#ended} users ended because a dictionary had no more rows`);
  }

  #makeThrottles(): void {
    const { play, sessions } = this.#script;
    const shared = play.speed.mode === 'bps' || play.speed.mode === 'pps' ? this.#share.rate : undefined;
    const common = shared === undefined ? undefined : new Throttle(play.speed.mode as 'bps' | 'pps', shared);
    for (const session of sessions) {
      const { speed } = session;
      if (speed === play.speed && common !== undefined) this.#throttles.set(session, common);
      else if (speed !== play.speed && (speed.mode === 'bps' || speed.mode === 'pps')) {
        const part = this.#share.users / play.users;
        this.#throttles.set(session, new Throttle(speed.mode, speed.value * part));
      }
    }
  }

  async #begin(place: number): Promise<void> {
    const iteration = this.#iterations[place] as number;
    this.#iterations[place] = iteration + 1;
    const way = this.#choose(place);
    this.active++;
    way.meters.users.add(1);
    const turn = { user: this.#share.firstUser + place, iteration };
    const outcome = await this.#play(place, way, turn);
    way.meters.users.add(-1);
    this.active--;
    const isLast = this.#share.iterations > 0 && iteration + 1 >= this.#share.iterations;
    if (outcome === 'ended') this.#ended++;
    if (isLast || outcome === 'ended') this.#left--;
    else if (outcome === 'failed' && !this.driver.isPaced) setTimeout(() => this.#again(place), failurePauseMs);
    else setImmediate(() => this.#again(place));
    this.#deps.onSettled();
  }

  #again(place: number): void {
    if (!this.#deps.signal.aborted) this.driver.offer(place, performance.now());
  }

  async #play(place: number, way: Way, turn: Turn): Promise<'played' | 'failed' | 'ended'> {
    const { context, transport, referee, signal } = this.#deps;
    const from = this.#deps.sources.next(place);
    try {
      const local = await this.#localOf(way, from.localAddress);
      const stage = new Performance(new Round(this.#script, this.#values, turn, local), {
        config: context.config,
        ...{ transport, referee, signal },
        meters: way.meters,
        throttleOf: (session) => this.#throttles.get(session),
        routeOf: (session) => {
          const route = this.#routeOf(session, { place, way, from, user: turn.user });
          local.serverPort = String(route.port);
          if (route.localPort !== undefined) local.clientPort = String(route.localPort);
          return route;
        },
      });
      return (await stage.play()) ? 'played' : 'failed';
    } catch (error) {
      if (error instanceof ValuesEnded) return 'ended';
      const kind = error instanceof RangeError ? 'value' : (error as NodeJS.ErrnoException).code;
      if (kind === undefined) throw error;
      way.meters.fail(kind);
      way.meters.ko.add(1);
      return 'failed';
    }
  }

  async #localOf(way: Way, localAddress: string | undefined): Promise<LocalValues> {
    const local: LocalValues = { ...timesNow(), serverIp: way.address };
    const usesAddress = this.#script.play.parameters.some((parameter) => localNameOf(parameter) === 'clientIp');
    return usesAddress ? { ...local, clientIp: localAddress ?? (await sourceTo(way.address)) } : local;
  }

  /** All sessions of a round come from one address. */
  #routeOf(
    session: ScriptSession,
    { place, way, from, user }: { place: number; way: Way; from: Partial<Route>; user: number },
  ): Route {
    const port = portOn(way, session.port, this.#script.play.firstSlot + user);
    const { localAddress } = from;
    const localPort = from.localPort === undefined ? undefined : this.#deps.sources.next(place).localPort;
    return {
      ...{ address: way.address, port },
      ...(localAddress !== undefined && { localAddress }),
      ...(localPort !== undefined && { localPort }),
    };
  }
}
