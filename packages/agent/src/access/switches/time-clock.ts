import type { ResultRow } from '@rushhour/protocol';
import {
  FrameWriter,
  type GptpMessage,
  gptpGroupMac,
  gptpType,
  maxGptpBytes,
  parseMac,
  TimePort,
  type TimePortOptions,
  writeGptp,
} from '@rushhour/wire';
import { linkStateOf } from '../../net/packet/device.ts';
import type { AccessMeters } from '../access-meters.ts';
import { AccessPort } from '../access-port.ts';
import type { GptpProfile } from './switch-profiles.ts';

/** The state of the link is looked at this often. */
const linkCheckMs = 200;
const ethernetBytes = 14;

const optionsOf = ({ clock, port, error }: GptpProfile, mac: Uint8Array): TimePortOptions => ({
  ...{ role: clock.role, domain: clock.domain, error },
  rank: {
    ...{ priority1: clock.priority1, clockClass: clock.clockClass, accuracy: clock.accuracy },
    ...{ variance: clock.variance, priority2: clock.priority2 },
  },
  mac: clock.identity === undefined ? mac : parseMac(clock.identity),
  ...{ announceLog: port.announceLog, syncLog: port.syncLog, delayLog: port.delayLog },
  ...{ announceTimeout: port.announceTimeout, syncTimeout: port.syncTimeout },
  ...{ twoStep: port.twoStep, delayThresholdNs: port.delayThresholdNs },
});

const epochNs = BigInt(Math.round(performance.timeOrigin * 1000)) * 1000n;
const startNs = process.hrtime.bigint() - BigInt(Math.round(performance.now() * 1e6));
/** TAI is ahead of UTC by 37 s since 2017, which announces say, too. */
const taiOffsetNs = 37_000_000_000n;
/** Nanoseconds of TAI since 1970, by a clock that is never set. */
const machineNs = (): bigint => epochNs + taiOffsetNs + process.hrtime.bigint() - startNs;

/** An emulated clock on an interface. */
export class TimeClock {
  readonly port: TimePort;
  readonly #port: AccessPort;
  readonly #frames: FrameWriter;
  readonly #meters: AccessMeters;
  #isOff = false;
  #isStarted = false;
  #checkedMs = Number.NEGATIVE_INFINITY;
  #row = '';

  constructor(name: string, isCaptured: boolean, profile: GptpProfile, meters: AccessMeters) {
    this.#meters = meters;
    this.#port = new AccessPort(name, isCaptured);
    this.#frames = new FrameWriter(this.#port.sink);
    this.port = new TimePort(
      {
        machineNs,
        random: Math.random,
        send: (message) => this.#send(message),
        onOffset: (offsetNs) => meters.onClockOffset(offsetNs),
        onDelay: (delayNs) => meters.onPathDelay(delayNs),
      },
      optionsOf(profile, this.#port.mac),
    );
    this.#port.open({
      receive: (memory, start, end) => {
        const arrivedNs = machineNs();
        const isOurs = this.#isStarted && end - start > ethernetBytes && memory.view.getUint16(start + 12) === gptpType;
        if (isOurs) this.port.receive(memory, start + ethernetBytes, end, arrivedNs);
      },
      advance: (nowMs) => this.#advance(nowMs),
    });
  }

  get name(): string {
    return this.#port.name;
  }

  start(): void {
    this.#isStarted = true;
  }

  /** Takes the link down on purpose, or up again. */
  setLink(isUp: boolean): void {
    this.#isOff = !isUp;
    this.#checkedMs = Number.NEGATIVE_INFINITY;
  }

  /** The row of the port, if it has changed since the last call. */
  takeRows(): ResultRow[] {
    const row = this.#rowOf();
    const text = JSON.stringify(row);
    if (this.#row === text) return [];
    this.#row = text;
    return [row];
  }

  report(): void {
    this.#meters.followClock(this.name, this.port);
  }

  close(): void {
    this.#port.close();
  }

  #advance(nowMs: number): void {
    if (!this.#isStarted) return;
    if (nowMs - this.#checkedMs >= linkCheckMs) {
      this.#checkedMs = nowMs;
      this.port.setLink(!this.#isOff && linkStateOf(this.name) === 'up');
    }
    this.port.advance(nowMs);
  }

  /** Messages leave at once: their times are taken just before. */
  #send(message: GptpMessage): bigint {
    const frames = this.#frames;
    const at = frames.begin(0, maxGptpBytes);
    if (at < 0) return machineNs();
    const end = writeGptp(frames.memory, at, message);
    frames.send(at, end, gptpType, { path: 0, tags: 0, sourceMac: this.#port.mac, destinationMac: gptpGroupMac });
    const leavingNs = machineNs();
    this.#port.flush();
    return leavingNs;
  }

  #rowOf(): ResultRow {
    const { state, leader, identity, isCapable, delay, offsetNs, clock, counters, omitted, rank } = this.port;
    const best = state === 'leader' ? { ...rank, identity } : leader?.rank;
    const { meanNs, ratePpm, lost } = delay;
    return {
      index: 0,
      state,
      cells: {
        ...{
          interface: this.name,
          clock: identity,
          leader: best?.identity ?? null,
          priority1: best?.priority1 ?? null,
        },
        ...{ steps: best?.steps ?? null, keepsTime: isCapable ? 'yes' : 'no' },
        pathDelayNs: meanNs === undefined ? null : Math.round(meanNs),
        ...{
          ratePpm: Math.round(ratePpm * 1000) / 1000,
          offsetNs: offsetNs === undefined ? null : Math.round(offsetNs),
        },
        ...{ clockSteps: clock.steps, lostAnswers: lost, omittedSyncs: omitted, leaderChanges: counters.leaderChanges },
      },
    };
  }
}
