import { bytesOfAddress, compareAddresses, textOfAddress } from '../address-bytes.ts';
import { Bootstrap } from './bootstrap.ts';
import type { EncodedGroup } from './encoding.ts';
import { JoinedTrees } from './joined-trees.ts';
import {
  findPimMessage,
  type JoinPruneMessage,
  type PimEnds,
  type PimMessage,
  type RegisterMessage,
  writePim,
} from './message.ts';
import { type PimNeighbour, PimNeighbours } from './neighbours.ts';
import { checkPimOptions, type PimOptions } from './options.ts';
import { ReceivedTrees } from './received-trees.ts';
import { RegisterSender } from './register-sender.ts';
import { findRegistered } from './registered-packet.ts';

export interface PimEvents {
  send(bytes: Uint8Array, destination: Uint8Array): void;
  onNeighbour(neighbour: Uint8Array, isUp: boolean, reason: string): void;
  /** The designated router of the link has changed. */
  onDesignated(router: Uint8Array): void;
}

const never = Number.POSITIVE_INFINITY;
/** The longest wait before a new neighbour is greeted (RFC 7761, section 4.11). */
const greetingMs = 5000;
/** RFC 5059, section 5. */
const candidateMs = 60_000;
const candidateHoldSec = 150;

export const allPimRouters = { v4: bytesOfAddress('224.0.0.13'), v6: bytesOfAddress('ff02::d') } as const;
const allGroups: Readonly<Record<number, EncodedGroup>> = {
  4: { address: bytesOfAddress('224.0.0.0'), bits: 4 },
  16: { address: bytesOfAddress('ff00::'), bits: 8 },
};

/** A router of PIM sparse mode on one link (RFC 7761), or of its subset for known sources. */
export class PimRouter {
  readonly neighbours: PimNeighbours;
  readonly received = new ReceivedTrees();
  readonly bootstrap: Bootstrap;
  readonly counters = {
    tx: 0,
    rx: 0,
    invalid: 0,
    flaps: 0,
    joinsSent: 0,
    joinsReceived: 0,
    registersSent: 0,
    registersReceived: 0,
    stopsReceived: 0,
    assertsReceived: 0,
  };
  lastError = '';
  /** The designated router. */
  designated: Uint8Array;
  readonly #options: PimOptions;
  readonly #events: PimEvents;
  readonly #joins: JoinedTrees;
  readonly #registers: RegisterSender;
  readonly #all: Uint8Array;
  #isRunning = false;
  #generationId = 0;
  #helloAt = never;
  #candidateAt = never;

  /** Throws where the router cannot do what is asked of it. */
  constructor(options: PimOptions, events: PimEvents) {
    checkPimOptions(options);
    const { address, drPriority, propagationMs, overrideMs, random, rendezvous, joins, maxBytes } = options;
    this.#options = options;
    this.#events = events;
    this.#all = address.length === 4 ? allPimRouters.v4 : allPimRouters.v6;
    this.designated = address;
    this.neighbours = new PimNeighbours({
      address,
      drPriority,
      pruneDelay: { canTrack: false, propagationMs, overrideMs },
    });
    this.#joins = new JoinedTrees({ ...joins, maxBytes, random });
    const sources = joins.sources.length > 0 ? joins.sources : [address];
    const groupCount = Math.max(joins.groupCount, 1);
    this.#registers = new RegisterSender({
      ...options.registers,
      sources,
      random,
      firstGroup: joins.firstGroup,
      groupCount,
    });
    const group = allGroups[address.length] as EncodedGroup;
    const point = rendezvous.address ?? address;
    const priority = rendezvous.kind === 'bootstrap' ? rendezvous.bootstrapPriority : 0;
    this.bootstrap = new Bootstrap({ address, priority, own: { group, point, holdSec: candidateHoldSec }, random });
  }

  get isRunning(): boolean {
    return this.#isRunning;
  }

  /** The neighbour that is asked for trees, once it has been heard. */
  get upstream(): PimNeighbour | undefined {
    const { upstream } = this.#options;
    if (upstream !== undefined) return this.neighbours.find(upstream);
    const [first] = this.neighbours.all.values();
    return first;
  }

  start(now: number): void {
    const { random } = this.#options;
    this.#isRunning = true;
    this.#generationId = Math.floor(random() * 2 ** 32);
    this.#helloAt = now;
    this.#candidateAt = now;
    this.bootstrap.start(now);
    this.#registers.start(now);
    this.advance(now);
  }

  /** Gives everything back, says that it ends, and forgets. */
  stop(): void {
    if (!this.#isRunning) return;
    const { upstream } = this;
    if (upstream !== undefined && this.#joins.isActive)
      for (const message of this.#joins.prunes(upstream.address, (group) => this.#pointOf(group))) this.#send(message);
    this.#sendHello(0);
    this.#forget();
  }

  /** Falls silent without a word. */
  drop(): void {
    if (this.#isRunning) this.#forget();
  }

  advance(now: number): void {
    if (!this.#isRunning) return;
    for (const { address } of this.neighbours.expire(now)) this.#lose(address, 'has fallen silent');
    if (now >= this.#helloAt) {
      this.#helloAt = now + this.#options.helloSec * 1000;
      this.#sendHello(this.#options.holdSec);
    }
    const { upstream } = this;
    const pointOf = (group: Uint8Array) => this.#pointOf(group);
    if (upstream !== undefined)
      for (const message of this.#joins.due(now, upstream.address, pointOf)) this.#sendJoins(message);
    this.#sendRegisters(now);
    this.#advanceBootstrap(now);
    this.#echoPrunes(now);
  }

  receive(bytes: Uint8Array, source: Uint8Array, { destination, now }: { destination: Uint8Array; now: number }): void {
    if (!this.#isRunning || compareAddresses(source, this.#options.address) === 0) return;
    const message = findPimMessage(bytes, this.#endsOf(source, destination));
    if (message === undefined) {
      this.counters.invalid++;
      this.lastError = `message of ${textOfAddress(source)} is broken`;
      return;
    }
    this.counters.rx++;
    this.#take(message, source, now);
  }

  /** A neighbour is known to be gone, from BFD for example. */
  dropNeighbour(address: Uint8Array, reason: string): void {
    if (this.neighbours.all.delete(textOfAddress(address))) this.#lose(address, reason);
  }

  #forget(): void {
    this.#isRunning = false;
    this.#joins.stop();
    for (const { address } of this.neighbours.all.values()) this.#events.onNeighbour(address, false, 'stopped');
    this.neighbours.all.clear();
    this.received.all.clear();
    this.designated = this.#options.address;
  }

  #take(message: PimMessage, source: Uint8Array, now: number): void {
    if (message.kind === 'hello') this.#takeHello(message, source, now);
    else if (message.kind === 'register') this.#takeRegister(message, source);
    else if (message.kind === 'registerStop') {
      this.counters.stopsReceived++;
      this.#registers.stop(message.group.address, message.source, now);
    } else if (message.kind === 'candidate') this.bootstrap.takeCandidate(message, now);
    // The rest counts from neighbours only (RFC 7761, section 4.3.1).
    else if (this.neighbours.find(source) === undefined) this.lastError = `${textOfAddress(source)} is no neighbour`;
    else if (message.kind === 'joinPrune') this.#takeJoinPrune(message, source, now);
    else if (message.kind === 'assert') this.counters.assertsReceived++;
    else if (this.#options.rendezvous.kind === 'bootstrap' && this.bootstrap.receive(message, now))
      this.#send(this.bootstrap.originate(now));
  }

  #takeHello(message: PimMessage & { kind: 'hello' }, source: Uint8Array, now: number): void {
    const effect = this.neighbours.hear(message, source, now);
    if (effect === 'gone') this.#lose(source, 'has left');
    if (effect !== 'new' && effect !== 'restarted') {
      this.#elect();
      return;
    }
    if (effect === 'restarted') this.counters.flaps++;
    this.#events.onNeighbour(source, true, effect === 'new' ? 'heard' : 'has restarted');
    this.#elect();
    const { random } = this.#options;
    this.#helloAt = Math.min(this.#helloAt, now + random() * greetingMs);
    const { upstream } = this;
    if (upstream === undefined || compareAddresses(upstream.address, source) !== 0) return;
    // A neighbour takes joins only from routers it has heard.
    this.#helloAt = now;
    this.#joins.start(now);
  }

  #lose(address: Uint8Array, reason: string): void {
    this.counters.flaps++;
    this.lastError = `${textOfAddress(address)} ${reason}`;
    this.#events.onNeighbour(address, false, reason);
    if (this.upstream === undefined) this.#joins.stop();
    this.#elect();
  }

  #elect(): void {
    const { designated } = this.neighbours;
    if (compareAddresses(designated, this.designated) === 0) return;
    this.designated = designated;
    this.#events.onDesignated(designated);
  }

  #takeJoinPrune(message: JoinPruneMessage, source: Uint8Array, now: number): void {
    const { canTrack, overrideMs, propagationMs } = this.neighbours.pruneDelay;
    if (compareAddresses(message.upstream, this.#options.address) === 0) {
      this.counters.joinsReceived += message.groups.length;
      const others = this.neighbours.all.size > 1;
      this.received.take(message, source, { now, overrideMs: others ? overrideMs + propagationMs : 0 });
      return;
    }
    const { upstream } = this;
    if (upstream === undefined || compareAddresses(message.upstream, upstream.address) !== 0) return;
    for (const change of message.groups) this.#joins.overhear(change, now, { isSuppressed: !canTrack, overrideMs });
  }

  /** As rendezvous point: nothing more is wanted, because no tree is built behind this router. */
  #takeRegister({ packet }: RegisterMessage, source: Uint8Array): void {
    const registered = findRegistered(packet);
    this.counters.registersReceived++;
    if (registered === undefined || registered.group.length !== source.length) return;
    const group = { address: registered.group, bits: registered.group.length * 8 };
    this.#send({ kind: 'registerStop', group, source: registered.source }, source);
  }

  #pointOf(group: Uint8Array): Uint8Array | undefined {
    const { kind, address } = this.#options.rendezvous;
    if (kind === 'bootstrap') return this.bootstrap.findPoint(group);
    return kind === 'none' ? undefined : (address ?? this.upstream?.address);
  }

  #sendHello(holdSec: number): void {
    const { drPriority, propagationMs, overrideMs, sendsGenerationId } = this.#options;
    this.#send({
      kind: 'hello',
      holdSec,
      drPriority,
      pruneDelay: { canTrack: false, propagationMs, overrideMs },
      generationId: sendsGenerationId ? this.#generationId : undefined,
    });
  }

  #sendJoins(message: JoinPruneMessage): void {
    this.counters.joinsSent += message.groups.length;
    this.#send(message);
  }

  #sendRegisters(now: number): void {
    if (this.#options.registers.perSec === 0) return;
    for (const { group, message } of this.#registers.due(now)) {
      const point = this.#pointOf(group);
      if (point === undefined) continue;
      this.counters.registersSent++;
      this.#send(message, point);
    }
  }

  #advanceBootstrap(now: number): void {
    const { rendezvous, address } = this.#options;
    if (rendezvous.kind !== 'bootstrap') return;
    const message = this.bootstrap.advance(now);
    if (message !== undefined) this.#send(message);
    const elected = this.bootstrap.elected?.router;
    const isCandidate = rendezvous.address !== undefined && compareAddresses(rendezvous.address, address) === 0;
    if (!isCandidate || elected === undefined || compareAddresses(elected, address) === 0) return;
    if (now < this.#candidateAt) return;
    this.#candidateAt = now + candidateMs;
    const groups = [allGroups[address.length] as EncodedGroup];
    this.#send({ kind: 'candidate', priority: 0, holdSec: candidateHoldSec, point: address, groups }, elected);
  }

  /** Says which groups end, so that a router whose objection got lost can object again (RFC 7761, section 4.5.1). */
  #echoPrunes(now: number): void {
    const ended = this.received.advance(now);
    if (this.neighbours.all.size < 2) return;
    for (const change of ended)
      this.#send({ kind: 'joinPrune', upstream: this.#options.address, holdSec: 0, groups: [change] });
  }

  #endsOf(source: Uint8Array, destination: Uint8Array): PimEnds {
    const isV6 = source.length === 16;
    const addresses = new Int32Array(8);
    if (!isV6) return { addresses, isV6 };
    const words = (bytes: Uint8Array, i: number) => new DataView(bytes.buffer, bytes.byteOffset).getInt32(i * 4);
    for (let i = 0; i < 4; i++) {
      addresses[i] = words(source, i);
      addresses[i + 4] = words(destination, i);
    }
    return { addresses, isV6 };
  }

  #send(message: PimMessage, destination: Uint8Array = this.#all): void {
    this.counters.tx++;
    this.#events.send(writePim(message, this.#endsOf(this.#options.address, destination)), destination);
  }
}
