import { createHash } from 'node:crypto';
import { Round } from '../round.ts';
import type { Script, ScriptSession } from '../script.ts';
import { matchUnknown } from '../unknown-values.ts';
import { type LocalValues, type UserIteration, type Values, ValuesEnded } from '../values.ts';

/** How many iterations of a user may be skipped: earlier ones may have been lost in the network. */
const ahead = 3;
const maxTried = 4096;

/** How received bytes match: completely, as a prefix, or not at all. */
export type Fit = 'whole' | 'begun' | 'none';

/** Matches connections to one recorded session. The user and iteration are derived from the first bytes received. */
export class SessionMatcher {
  readonly script: Script;
  readonly position: number;
  readonly session: ScriptSession;
  /** Index of the first step sent by the client; undefined when the client only receives. */
  readonly opening: number | undefined;
  /** How many connections have been matched to this session. */
  played = 0;
  readonly #values: Values;
  readonly #next: Int32Array;
  readonly #onlyUser: number | undefined;
  /** Expected first bytes, by key, and the user iteration that sends them. */
  readonly #openings = new Map<string, UserIteration>();
  readonly #lengths = new Map<number, number>();
  readonly #isOpeningVarying: boolean;

  constructor(script: Script, position: number, { values, onlyUser }: { values: Values; onlyUser?: number }) {
    this.script = script;
    this.position = position;
    this.session = script.sessions[position] as ScriptSession;
    this.#values = values;
    this.#onlyUser = onlyUser;
    this.#next = new Int32Array(this.session.isVarying ? script.play.users : 0);
    const opening = this.session.steps.findIndex(({ side }) => side === 'client');
    this.opening = opening < 0 ? undefined : opening;
    this.#isOpeningVarying = this.session.isVarying && this.#hasVaryingOpening();
    if (this.#isOpeningVarying) for (const user of this.#users()) this.#expect(user, 0);
  }

  /** The user iteration that is due next when all arrive in order. */
  get nextUserIteration(): UserIteration {
    if (!this.session.isVarying) return { user: this.#onlyUser ?? 0, iteration: 0 };
    let lowest: UserIteration = { user: 0, iteration: Number.POSITIVE_INFINITY };
    for (const user of this.#users()) {
      const iteration = this.#next[user] as number;
      if (iteration < lowest.iteration) lowest = { user, iteration };
    }
    return lowest;
  }

  round(userIteration: UserIteration, local: LocalValues): Round {
    return new Round(this.script, this.#values, userIteration, local);
  }

  /** Candidate user iterations, most likely first. */
  *candidates(): Generator<UserIteration> {
    if (!this.session.isVarying) {
      yield this.nextUserIteration;
      return;
    }
    let tried = 0;
    for (let step = 0; step <= ahead; step++) {
      for (const user of this.#users()) {
        if (tried++ >= maxTried) return;
        yield { user, iteration: (this.#next[user] as number) + step };
      }
    }
  }

  /** Matches the first bytes; `userIteration` is set when they match completely. */
  fit(arrived: Buffer, isDatagram: boolean): { fit: Fit; userIteration?: UserIteration } {
    if (this.opening === undefined) return { fit: 'none' };
    if (this.#isOpeningVarying) return this.#fitOpenings(arrived, isDatagram);
    const userIteration = this.nextUserIteration;
    return { fit: this.#fitOf(this.round(userIteration, {}), arrived, isDatagram), userIteration };
  }

  /** Length of the common prefix with the first bytes of this user iteration. */
  common(userIteration: UserIteration, arrived: Buffer): number {
    const expected = this.#openingOf(userIteration);
    if (expected === undefined) return 0;
    const max = Math.min(expected.length, arrived.length);
    let at = 0;
    while (at < max && expected[at] === arrived[at]) at++;
    return at;
  }

  /** Marks the user iteration as seen; only later ones of this user are expected from now on. */
  claim({ user, iteration }: UserIteration): void {
    this.played++;
    if (!this.session.isVarying) return;
    const before = this.#next[user] as number;
    if (iteration < before) return;
    this.#next[user] = iteration + 1;
    if (!this.#isOpeningVarying) return;
    for (let past = before; past <= iteration; past++) this.#forget({ user, iteration: past });
    this.#expect(user, Math.max(before + ahead, iteration) + 1);
  }

  *#users(): Generator<number> {
    if (this.#onlyUser !== undefined) yield this.#onlyUser;
    else for (let user = 0; user < this.script.play.users; user++) yield user;
  }

  #hasVaryingOpening(): boolean {
    if (this.opening === undefined) return false;
    const uses = this.session.steps[this.opening]?.uses ?? [];
    const isUnknown = this.round({ user: 0, iteration: 0 }, {}).unknownIn(this.position, this.opening).length > 0;
    return uses.length > 0 && !isUnknown;
  }

  #expect(user: number, from: number): void {
    for (let iteration = from; iteration <= (this.#next[user] as number) + ahead; iteration++) {
      const bytes = this.#openingOf({ user, iteration });
      if (bytes === undefined) continue;
      const key = keyOf(bytes);
      if (this.#openings.has(key)) continue;
      this.#openings.set(key, { user, iteration });
      this.#lengths.set(bytes.length, (this.#lengths.get(bytes.length) ?? 0) + 1);
    }
  }

  #forget(userIteration: UserIteration): void {
    const bytes = this.#openingOf(userIteration);
    const key = bytes && keyOf(bytes);
    const known = key === undefined ? undefined : this.#openings.get(key);
    if (
      bytes === undefined ||
      key === undefined ||
      known?.user !== userIteration.user ||
      known.iteration !== userIteration.iteration
    )
      return;
    this.#openings.delete(key);
    const left = (this.#lengths.get(bytes.length) ?? 1) - 1;
    if (left > 0) this.#lengths.set(bytes.length, left);
    else this.#lengths.delete(bytes.length);
  }

  /** Undefined when the parameters have no values for this user iteration: the user has ended. */
  #openingOf(userIteration: UserIteration): Uint8Array | undefined {
    try {
      return this.round(userIteration, {}).bytes(this.position, this.opening ?? 0);
    } catch (error) {
      if (error instanceof RangeError || error instanceof ValuesEnded) return undefined;
      throw error;
    }
  }

  #fitOpenings(arrived: Buffer, isDatagram: boolean): { fit: Fit; userIteration?: UserIteration } {
    let max = 0;
    for (const length of this.#lengths.keys()) {
      max = Math.max(max, length);
      if (length > arrived.length || (isDatagram && length !== arrived.length)) continue;
      const userIteration = this.#openings.get(keyOf(arrived.subarray(0, length)));
      if (userIteration !== undefined) return { fit: 'whole', userIteration };
    }
    if (!isDatagram && arrived.length < max) return { fit: 'begun' };
    const userIteration = this.#later(arrived, isDatagram);
    return userIteration === undefined ? { fit: 'none' } : { fit: 'whole', userIteration };
  }

  /** Iterations may have been lost or sent to other servers, so later ones are tried as well. */
  #later(arrived: Buffer, isDatagram: boolean): UserIteration | undefined {
    let tried = 0;
    for (let step = ahead + 1; ; step++) {
      for (const user of this.#users()) {
        if (tried++ >= maxTried) return undefined;
        const userIteration = { user, iteration: (this.#next[user] as number) + step };
        const bytes = this.#openingOf(userIteration);
        if (bytes !== undefined && fitOf(bytes, arrived, isDatagram) === 'whole') return userIteration;
      }
    }
  }

  #fitOf(round: Round, arrived: Buffer, isDatagram: boolean): Fit {
    const step = this.opening ?? 0;
    if (round.unknownIn(this.position, step).length > 0) {
      return matchUnknown(round, this.position, step, arrived) === undefined ? 'begun' : 'whole';
    }
    return fitOf(round.bytes(this.position, step), arrived, isDatagram);
  }
}

/** How received bytes match the expected ones. */
export const fitOf = (expected: Uint8Array, arrived: Buffer, isDatagram: boolean): Fit => {
  if (isDatagram) return arrived.equals(expected) ? 'whole' : 'none';
  const common = Math.min(expected.length, arrived.length);
  if (!arrived.subarray(0, common).equals(expected.subarray(0, common))) return 'none';
  return arrived.length >= expected.length ? 'whole' : 'begun';
};

const keyOf = (bytes: Uint8Array): string => `${bytes.length} ${createHash('sha1').update(bytes).digest('base64')}`;
