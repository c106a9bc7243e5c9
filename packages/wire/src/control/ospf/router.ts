import { copyOf, isSameBytes } from '../../bytes/memory.ts';
import { isSameAddress } from '../../ip/address.ts';
import { floodTargets, helloTargets } from './destinations.ts';
import { electDesignated } from './election.ts';
import { hasDesignated, type OwnLsa, ospfType, type PacketEnds, type ReceivedOspf } from './format.ts';
import {
  createLsa,
  initialSequence,
  isLsaChecksumValid,
  type LsaHeader,
  lsaHeaderBytes,
  lsaKey,
  maxAge,
  setLsaChecksum,
} from './lsa.ts';
import { expiredLsa, Lsdb, type StoredLsa } from './lsdb.ts';
import { neighbourState, OspfNeighbour } from './neighbour.ts';
import type { OspfEvents, OspfOptions } from './options.ts';
import { OspfOutput } from './output.ts';
import { readAcknowledgement, readUpdate } from './update.ts';

const ageCheckMs = 1000;
const refreshMs = 1_800_000;
const never = Number.POSITIVE_INFINITY;

/** An OSPF router with one interface (RFC 2328, RFC 5340) and a generated network behind it. */
export class OspfRouter {
  readonly lsdb: Lsdb;
  readonly neighbours = new Map<number, OspfNeighbour>();
  readonly counters = { tx: 0, rx: 0, flaps: 0, invalid: 0 };
  lastError = '';
  designated = 0;
  backup = 0;
  readonly #options: OspfOptions;
  readonly #events: OspfEvents;
  /** LSAs about itself and its link that are in the database. */
  readonly #own = new Map<string, OwnLsa>();
  readonly #output: OspfOutput;
  readonly #hasDesignated: boolean;
  #flood: StoredLsa[] = [];
  #helloAt = never;
  #electAt = never;
  #ageAt = never;
  #changeAt = never;
  #now = 0;
  #isStopping = false;

  constructor(options: OspfOptions, events: OspfEvents) {
    this.#options = options;
    this.#events = events;
    this.lsdb = new Lsdb(options.format);
    this.#hasDesignated = hasDesignated(options.network);
    this.#output = new OspfOutput(options, (bytes, destination) => {
      this.counters.tx++;
      events.send(bytes, destination);
    });
  }

  start(now: number): void {
    const { area, deadSec, changeSec } = this.#options;
    this.#setNow(now);
    this.#isStopping = false;
    if (this.lsdb.size === 0) for (const lsa of area.lsas()) this.lsdb.install(lsa, now);
    this.#helloAt = now;
    this.#ageAt = now + ageCheckMs;
    this.#electAt = this.#hasDesignated ? now + deadSec * 1000 : never;
    this.#changeAt = changeSec > 0 && area.nodes > 0 ? now + changeSec * 1000 : never;
    this.#originateOwn();
  }

  /** Takes everything back that was flooded, ends all adjacencies and falls silent. */
  stop(now: number): void {
    this.#setNow(now);
    this.#isStopping = true;
    for (const entry of [...this.lsdb.values()])
      if (this.#isOwn(entry.header)) this.#flood.push(expiredLsa(entry, this.#now));
    this.#sendFlood();
    this.#drop('router stopped');
    this.#helloAt = never;
    this.#ageAt = never;
    this.#changeAt = never;
  }

  /** Ends all adjacencies at once and falls silent, as if the link had failed. */
  interrupt(now: number): void {
    this.#setNow(now);
    this.#drop('interrupted');
    this.#helloAt = never;
  }

  /** Ends the adjacency with the neighbour that has an address. */
  disconnect(address: Int32Array, reason: string, now: number): void {
    this.#setNow(now);
    const neighbour = [...this.neighbours.values()].find((one) => isSameAddress(one.address, 0, address, 0));
    if (neighbour === undefined) return;
    this.#lose(neighbour, reason);
    this.#sendHello();
    this.#sendFlood();
  }

  receive(bytes: Uint8Array, ends: PacketEnds, now: number): void {
    this.#setNow(now);
    const packet = this.#options.format.parse(bytes, ends);
    if (packet === undefined || packet.areaId !== this.#options.areaId || this.#helloAt === never) {
      this.counters.invalid++;
      return;
    }
    if (packet.routerId === this.#options.routerId) return;
    this.counters.rx++;
    if (packet.type === ospfType.hello) this.#receiveHello(packet, ends.source);
    else {
      const neighbour = this.neighbours.get(packet.routerId);
      if (neighbour !== undefined && neighbour.state >= neighbourState.exStart) this.#dispatch(packet, neighbour);
    }
    this.#output.flush(this.#destinations());
    this.#sendFlood();
  }

  advance(now: number): void {
    this.#setNow(now);
    if (now >= this.#helloAt) {
      this.#helloAt = now + this.#options.helloSec * 1000;
      this.#sendHello();
    }
    if (now >= this.#electAt) {
      this.#electAt = never;
      this.#elect();
    }
    for (const neighbour of [...this.neighbours.values()]) {
      if (now - neighbour.heardAt >= this.#options.deadSec * 1000) this.#lose(neighbour, 'dead interval expired');
      else neighbour.advance(now);
    }
    if (now >= this.#ageAt) this.#age();
    if (now >= this.#changeAt) this.#changeMetric();
    this.#sendFlood();
  }

  #setNow(now: number): void {
    this.#now = now;
    this.#output.now = now;
  }

  #drop(reason: string): void {
    // A hello that lists nobody ends the adjacency at the other end as well.
    const all = [...this.neighbours.values()];
    for (const neighbour of all) this.#lose(neighbour, reason);
    if (all.length > 0) this.#sendHello();
  }

  #lose(neighbour: OspfNeighbour, reason: string): void {
    this.neighbours.delete(neighbour.routerId);
    neighbour.setState(neighbourState.down, reason);
    if (this.#hasDesignated) this.#elect();
  }

  #sendHello(): void {
    const { format, helloSec, deadSec, priority } = this.#options;
    const hello = format.writeHello({
      helloSec,
      deadSec,
      priority: this.#hasDesignated ? priority : 1,
      designated: this.designated,
      backup: this.backup,
      neighbours: [...this.neighbours.keys()],
    });
    for (const destination of helloTargets(this.#options, this.neighbours.values()))
      this.#output.send(ospfType.hello, hello, destination);
  }

  #receiveHello(packet: ReceivedOspf, source: Int32Array): void {
    const { routerId, format, helloSec, deadSec } = this.#options;
    const hello = format.readHello(packet);
    if (hello === undefined) return;
    if (hello.helloSec !== helloSec || hello.deadSec !== deadSec || !format.isHelloAccepted(hello)) {
      this.lastError = `hello of ${packet.routerId >>> 0} with other intervals, mask or area`;
      return;
    }
    const neighbour = this.#neighbourOf(packet.routerId, source);
    const isChanged =
      neighbour.priority !== hello.priority ||
      neighbour.designated !== hello.designated ||
      neighbour.backup !== hello.backup;
    Object.assign(neighbour, {
      address: source,
      name: format.nameOf(packet.routerId, source),
      interfaceId: hello.interfaceId,
      heardAt: this.#now,
      priority: hello.priority,
      designated: hello.designated,
      backup: hello.backup,
    });
    if (!hello.neighbours.includes(routerId)) {
      if (neighbour.state >= neighbourState.bidirectional)
        neighbour.setState(neighbourState.init, 'neighbour forgot us');
      return;
    }
    const isNew = neighbour.state < neighbourState.bidirectional;
    if (isNew) neighbour.setState(neighbourState.bidirectional);
    if (this.#hasDesignated && (isNew || isChanged)) this.#onBroadcastHello(hello.designated, hello.backup);
    this.#beginIfAdjacent(neighbour);
  }

  /** A designated router that exists ends the wait for one. */
  #onBroadcastHello(designated: number, backup: number): void {
    if (this.#electAt !== never && designated === 0 && backup === 0) return;
    this.#electAt = never;
    this.#elect();
  }

  #neighbourOf(routerId: number, source: Int32Array): OspfNeighbour {
    const known = this.neighbours.get(routerId);
    if (known !== undefined) return known;
    const { mtu, ignoresMtu, retransmitSec, format } = this.#options;
    const neighbour = new OspfNeighbour(
      {
        routerId: this.#options.routerId,
        mtu,
        ignoresMtu,
        format,
        retransmitMs: retransmitSec * 1000,
        lsdb: this.lsdb,
        send: (to, type, write) => this.#output.send(type, write, to.address),
        sendLsas: (to, lsas) => this.#output.updates(lsas, to.address),
        onState: (one, before, reason) => this.#onState(one, before, reason),
      },
      routerId,
      source,
    );
    this.neighbours.set(routerId, neighbour);
    // The neighbour sees itself listed soon.
    this.#helloAt = this.#now;
    return neighbour;
  }

  #beginIfAdjacent(neighbour: OspfNeighbour): void {
    const theirs = neighbour.name === this.designated || neighbour.name === this.backup;
    const isAdjacent = !this.#hasDesignated || (this.#electAt === never && (this.#isDesignated || theirs));
    if (isAdjacent && neighbour.state === neighbourState.bidirectional) neighbour.begin(this.#now);
    else if (!isAdjacent && neighbour.state > neighbourState.bidirectional)
      neighbour.setState(neighbourState.bidirectional);
  }

  #elect(): void {
    const { format, priority, routerId } = this.#options;
    const others = [...this.neighbours.values()].filter(({ state }) => state >= neighbourState.bidirectional);
    const own = { routerId, name: format.name, priority, designated: this.designated, backup: this.backup };
    const result = electDesignated(own, others);
    if (result.designated === this.designated && result.backup === this.backup) return;
    this.designated = result.designated;
    this.backup = result.backup;
    this.#helloAt = this.#now;
    for (const neighbour of others) this.#beginIfAdjacent(neighbour);
    this.#originateOwn();
  }

  #onState(neighbour: OspfNeighbour, before: number, reason: string): void {
    const isUp = neighbour.state === neighbourState.full;
    if (!isUp && before !== neighbourState.full) return;
    if (!isUp) {
      this.counters.flaps++;
      this.lastError = reason;
    }
    this.#events.onNeighbour(neighbour, isUp, reason);
    if (!this.#isStopping) this.#originateOwn();
  }

  #dispatch(packet: ReceivedOspf, neighbour: OspfNeighbour): void {
    const { format } = this.#options;
    if (packet.type === ospfType.description) {
      const description = format.readDescription(packet);
      if (description !== undefined) neighbour.receiveDescription(description, this.#now);
    } else if (neighbour.state < neighbourState.exchange) return;
    else if (packet.type === ospfType.request) this.#answer(packet, neighbour);
    else if (packet.type === ospfType.update) for (const lsa of readUpdate(packet)) this.#receiveLsa(lsa, neighbour);
    else if (packet.type === ospfType.acknowledgement)
      for (const header of readAcknowledgement(format.readLsaHeader, packet)) neighbour.acknowledged(header);
  }

  #answer(packet: ReceivedOspf, neighbour: OspfNeighbour): void {
    const found = this.#options.format.readRequest(packet).map((reference) => this.lsdb.find(reference));
    if (found.some((entry) => entry === undefined)) neighbour.begin(this.#now);
    else this.#output.updates(found as StoredLsa[], neighbour.address);
  }

  #receiveLsa(bytes: Uint8Array, neighbour: OspfNeighbour): void {
    if (!isLsaChecksumValid(bytes)) return;
    const header = this.#options.format.readLsaHeader(new DataView(bytes.buffer), 0);
    const order = this.lsdb.compare(header, this.#now);
    const own = this.lsdb.find(header);
    neighbour.received(header, this.#now);
    if (order > 0) this.#accept(bytes, header, neighbour);
    else if (order === 0) {
      if (neighbour.unacknowledged.has(lsaKey(header))) neighbour.acknowledged(header);
      else this.#output.acknowledge(bytes);
    } else if (own !== undefined) this.#output.updates([own], neighbour.address);
  }

  #accept(bytes: Uint8Array, header: LsaHeader, from: OspfNeighbour): void {
    this.#output.acknowledge(bytes);
    if (this.#isOwn(header)) {
      this.#outdo(bytes, header);
      return;
    }
    if (header.age >= maxAge && this.lsdb.find(header) === undefined) return;
    const entry = this.lsdb.install(bytes, this.#now);
    for (const neighbour of this.neighbours.values()) {
      neighbour.unacknowledged.delete(lsaKey(header));
      if (neighbour !== from && neighbour.state >= neighbourState.exchange && !this.#flood.includes(entry))
        this.#flood.push(entry);
    }
    if (header.age >= maxAge) this.lsdb.remove(header);
    if (this.#options.format.changesOwn(header)) this.#originateOwn();
  }

  /** An instance of an own LSA from an earlier life: a newer one replaces it, or it is flushed. */
  #outdo(bytes: Uint8Array, header: LsaHeader): void {
    const own = this.lsdb.find(header);
    if (own !== undefined && !this.#isStopping) this.#originate(own.bytes, header.sequence + 1);
    else this.#flood.push(expiredLsa({ bytes, header, at: this.#now }, this.#now));
  }

  #isOwn({ router }: LsaHeader): boolean {
    return router === this.#options.routerId || this.#options.area.isGenerated(router);
  }

  /** Installs and floods a copy of an LSA with a new sequence number. */
  #originate(bytes: Uint8Array, sequence: number): void {
    const copy = copyOf(bytes);
    copy[0] = 0;
    copy[1] = 0;
    new DataView(copy.buffer).setInt32(12, sequence);
    setLsaChecksum(copy);
    this.#flood.push(this.lsdb.install(copy, this.#now));
  }

  /** What has changed of the LSAs about the router itself and its link. */
  #originateOwn(): void {
    const { designated, lsdb } = this;
    const before = new Map(this.#own);
    const adjacent = [...this.neighbours.values()].filter(({ state }) => state === neighbourState.full);
    this.#own.clear();
    for (const lsa of this.#options.format.ownLsas({ adjacent, designated, lsas: lsdb.values() })) {
      const key = lsaKey(lsa);
      this.#own.set(key, lsa);
      before.delete(key);
      this.#originateNew(lsa);
    }
    for (const lsa of before.values()) {
      const known = lsdb.find(lsa);
      if (known === undefined) continue;
      this.#flood.push(expiredLsa(known, this.#now));
      lsdb.remove(lsa);
    }
  }

  #originateNew(lsa: OwnLsa): void {
    const known = this.lsdb.find(lsa);
    const sequence = known === undefined ? initialSequence : known.header.sequence + 1;
    const bytes = createLsa({ ...lsa, sequence }, lsa.write);
    const isSame =
      known !== undefined && isSameBytes(bytes.subarray(lsaHeaderBytes), known.bytes.subarray(lsaHeaderBytes));
    if (!isSame) this.#flood.push(this.lsdb.install(bytes, this.#now));
  }

  #age(): void {
    this.#ageAt = this.#now + ageCheckMs;
    for (const entry of [...this.lsdb.values()])
      if (this.#isOwn(entry.header) && this.#now - entry.at >= refreshMs)
        this.#originate(entry.bytes, entry.header.sequence + 1);
    for (const old of this.lsdb.expire(this.#now)) this.#flood.push(expiredLsa(old, this.#now));
  }

  #changeMetric(): void {
    const { area, changeSec, random, format } = this.#options;
    this.#changeAt = this.#now + changeSec * 1000;
    const lsa = area.changeMetric(random);
    const known = this.lsdb.find(format.readLsaHeader(new DataView(lsa.buffer), 0));
    if (known !== undefined) this.#originate(lsa, known.header.sequence + 1);
  }

  /** Floods what has changed to all neighbours that exchange databases. */
  #sendFlood(): void {
    if (this.#flood.length === 0) return;
    const lsas = this.#flood;
    this.#flood = [];
    const receivers = [...this.neighbours.values()].filter(({ state }) => state >= neighbourState.exchange);
    if (receivers.length === 0) return;
    for (const neighbour of receivers) for (const lsa of lsas) neighbour.expectAcknowledgement(lsa, this.#now);
    for (const destination of this.#destinations()) this.#output.updates(lsas, destination);
  }

  get #isDesignated(): boolean {
    const { name } = this.#options.format;
    return this.designated === name || this.backup === name;
  }

  #destinations(): readonly Int32Array[] {
    return floodTargets(this.#options, this.neighbours.values(), this.#isDesignated);
  }
}
