import type { MessageWriter } from '../message-writer.ts';
import { type Description, ddFlag, type LsaReference, type OspfFormat, ospfType } from './format.ts';
import { compareLsa, type LsaHeader, lsaHeaderBytes, lsaKey } from './lsa.ts';
import { agedHeader, type Lsdb, type StoredLsa } from './lsdb.ts';

export const neighbourState = {
  down: 0,
  init: 1,
  bidirectional: 2,
  exStart: 3,
  exchange: 4,
  loading: 5,
  full: 6,
} as const;
const stateNames = ['down', 'init', '2-way', 'exStart', 'exchange', 'loading', 'full'] as const;

export interface NeighbourContext {
  readonly routerId: number;
  readonly mtu: number;
  readonly ignoresMtu: boolean;
  readonly format: OspfFormat;
  readonly retransmitMs: number;
  readonly lsdb: Lsdb;
  send(neighbour: OspfNeighbour, type: number, write: (writer: MessageWriter) => void): void;
  sendLsas(neighbour: OspfNeighbour, lsas: readonly StoredLsa[]): void;
  onState(neighbour: OspfNeighbour, before: number, reason: string): void;
}

const never = Number.POSITIVE_INFINITY;

/** A neighbour and the exchange of databases with it (RFC 2328, section 10). */
export class OspfNeighbour {
  readonly routerId: number;
  /** Where packets for it go. */
  address: Int32Array;
  /** How elections call it. */
  name = 0;
  /** Of its link, in version 3. */
  interfaceId = 0;
  priority = 0;
  designated = 0;
  backup = 0;
  state: number = neighbourState.init;
  heardAt = 0;
  upAt = 0;
  /** Sent and not acknowledged, by key. */
  readonly unacknowledged = new Map<string, StoredLsa>();
  readonly #context: NeighbourContext;
  readonly #requests = new Map<string, LsaHeader>();
  #summary: LsaReference[] = [];
  #isMaster = false;
  #sequence = 0;
  #hasMore = true;
  /** Arguments of the last description, for repetitions. */
  #last: ((writer: MessageWriter) => void) | undefined;
  #repeatAt = never;
  #requestAt = never;
  #lsaAt = never;

  constructor(context: NeighbourContext, routerId: number, address: Int32Array) {
    this.#context = context;
    this.routerId = routerId;
    this.address = address;
  }

  setState(state: number, reason = ''): void {
    if (state === this.state) return;
    const before = this.state;
    this.state = state;
    if (state < neighbourState.exStart) this.#forget();
    if (state === neighbourState.down) this.#context.format.forget(this.routerId);
    this.#context.onState(this, before, reason);
  }

  /** Starts the exchange: both sides claim to be the master. */
  begin(now: number): void {
    this.#forget();
    this.#isMaster = true;
    this.#hasMore = true;
    this.#sequence = (Math.floor(now) + 1) >>> 0;
    this.setState(neighbourState.exStart);
    this.#describe(ddFlag.init | ddFlag.more | ddFlag.master, [], now);
  }

  receiveDescription(description: Description, now: number): void {
    const { routerId, mtu, ignoresMtu } = this.#context;
    if (!ignoresMtu && description.mtu > mtu) return;
    const { flags, sequence, headers } = description;
    if (this.state === neighbourState.exStart) {
      const isClaim = flags === (ddFlag.init | ddFlag.more | ddFlag.master) && headers.length === 0;
      if (isClaim && this.routerId > routerId) this.#start(false, sequence);
      else if ((flags & (ddFlag.init | ddFlag.master)) === 0 && sequence === this.#sequence && this.routerId < routerId)
        this.#start(true, sequence);
      else return;
    } else if (this.state < neighbourState.exchange) return;
    const isFromMaster = (flags & ddFlag.master) !== 0;
    const isExpected = this.#isMaster
      ? sequence === this.#sequence
      : sequence === this.#sequence || isNext(sequence, this.#sequence);
    if (isFromMaster === this.#isMaster || !isExpected) {
      if (
        this.state >= neighbourState.exchange &&
        isFromMaster !== this.#isMaster &&
        isBefore(sequence, this.#sequence)
      )
        return;
      this.begin(now);
      return;
    }
    this.#take(description, now);
  }

  /** Removes what has arrived from the list of requests. */
  received(header: LsaHeader, now: number): void {
    const key = lsaKey(header);
    const wanted = this.#requests.get(key);
    if (wanted === undefined || compareLsa(header, wanted) < 0) return;
    this.#requests.delete(key);
    if (this.state !== neighbourState.loading) return;
    if (this.#requests.size === 0) this.#complete(now);
    else if (this.#outstanding.delete(key) && this.#outstanding.size === 0) this.#request(now);
  }

  acknowledged(header: LsaHeader): void {
    const key = lsaKey(header);
    const sent = this.unacknowledged.get(key);
    if (sent !== undefined && sent.header.sequence === header.sequence) this.unacknowledged.delete(key);
    if (this.unacknowledged.size === 0) this.#lsaAt = never;
  }

  /** Repeats an LSA until it is acknowledged. */
  expectAcknowledgement(lsa: StoredLsa, now: number): void {
    this.unacknowledged.set(lsaKey(lsa.header), lsa);
    if (this.#lsaAt === never) this.#lsaAt = now + this.#context.retransmitMs;
  }

  advance(now: number): void {
    const { retransmitMs } = this.#context;
    if (now >= this.#repeatAt && this.#last !== undefined) {
      this.#repeatAt = now + retransmitMs;
      this.#context.send(this, ospfType.description, this.#last);
    }
    if (now >= this.#requestAt) this.#request(now);
    if (now >= this.#lsaAt) {
      this.#lsaAt = now + retransmitMs;
      this.#context.sendLsas(this, [...this.unacknowledged.values()].slice(0, maxRepeated));
    }
  }

  readonly #outstanding = new Set<string>();

  #forget(): void {
    this.#requests.clear();
    this.#outstanding.clear();
    this.unacknowledged.clear();
    this.#summary = [];
    this.#last = undefined;
    this.#repeatAt = never;
    this.#requestAt = never;
    this.#lsaAt = never;
  }

  #start(isMaster: boolean, sequence: number): void {
    this.#isMaster = isMaster;
    this.#sequence = sequence;
    this.#summary = [...this.#context.lsdb.values()].map(({ header }) => header);
    this.#hasMore = this.#summary.length > 0;
    this.#repeatAt = never;
    if (!isMaster) this.#isAnswered = false;
    this.setState(neighbourState.exchange);
  }

  /** As a slave: the present sequence number of the master has been answered. */
  #isAnswered = true;

  #take({ flags, sequence, headers }: Description, now: number): void {
    if (!this.#isMaster && sequence === this.#sequence && this.#isAnswered) {
      // A repetition: the answer was lost.
      if (this.#last !== undefined) this.#context.send(this, ospfType.description, this.#last);
      return;
    }
    if (this.state !== neighbourState.exchange) return;
    for (const header of headers)
      if (this.#context.lsdb.compare(header, now) > 0) this.#requests.set(lsaKey(header), header);
    const hasTheirMore = (flags & ddFlag.more) !== 0;
    if (this.#isMaster) {
      // The slave repeats the bit of the master's last packet; both are done once neither has more.
      if (!this.#hasMore && !hasTheirMore) {
        this.#finish(now);
        return;
      }
      this.#sequence = (this.#sequence + 1) >>> 0;
      this.#describeNext(now);
      return;
    }
    this.#sequence = sequence;
    this.#isAnswered = true;
    this.#describeNext(now);
    if (!this.#hasMore && !hasTheirMore) this.#finish(now);
  }

  #describeNext(now: number): void {
    const { lsdb, mtu, format } = this.#context;
    const room = Math.floor((mtu - format.overheadBytes - format.descriptionBytes) / lsaHeaderBytes);
    const headers = this.#summary.splice(0, room).flatMap((reference) => {
      const entry = lsdb.find(reference);
      return entry === undefined ? [] : [agedHeader(entry, now)];
    });
    this.#hasMore = this.#summary.length > 0;
    this.#describe((this.#isMaster ? ddFlag.master : 0) | (this.#hasMore ? ddFlag.more : 0), headers, now);
  }

  #describe(flags: number, headers: readonly Uint8Array[], now: number): void {
    const { mtu, format, retransmitMs } = this.#context;
    this.#last = format.writeDescription({ mtu, flags, sequence: this.#sequence, headers });
    this.#repeatAt = this.#isMaster ? now + retransmitMs : never;
    this.#context.send(this, ospfType.description, this.#last);
  }

  #finish(now: number): void {
    this.#repeatAt = never;
    if (this.#requests.size === 0) {
      this.#complete(now);
      return;
    }
    this.setState(neighbourState.loading);
    this.#request(now);
  }

  #complete(now: number): void {
    this.#requestAt = never;
    this.upAt = now;
    this.setState(neighbourState.full);
  }

  #request(now: number): void {
    const { mtu, format, retransmitMs } = this.#context;
    const room = Math.floor((mtu - format.overheadBytes) / requestBytes);
    const wanted = [...this.#requests.values()].slice(0, room);
    this.#outstanding.clear();
    for (const header of wanted) this.#outstanding.add(lsaKey(header));
    this.#requestAt = now + retransmitMs;
    this.#context.send(this, ospfType.request, format.writeRequest(wanted));
  }
}

const requestBytes = 12;
const maxRepeated = 200;
const isNext = (sequence: number, before: number): boolean => (before + 1) >>> 0 === sequence;
const isBefore = (a: number, b: number): boolean => ((b - a) | 0) > 0;
export const ospfStateName = (state: number): string => stateNames[state] as string;
