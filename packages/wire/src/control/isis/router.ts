import { isAuthentic } from './authentication.ts';
import { ipv4Reachability, systemReachability } from './generated-network.ts';
import { type Hello, readHello, writeLanHello, writePointToPointHello } from './hello.ts';
import { LevelDatabase } from './level-database.ts';
import { isLspValid } from './lsp.ts';
import {
  type AdjacencyState,
  adjacencyState,
  type IsisAdjacency,
  type IsisEvents,
  type IsisOptions,
} from './options.ts';
import { hexOf, type Level, packedTlvs, parsePdu, pduType, type ReceivedPdu, type Tlv, tlvOf, tlvType } from './pdu.ts';
import { systemsTlvs, topologyId } from './topologies.ts';

const never = Number.POSITIVE_INFINITY;
const ownPseudonode = '01';
/** A designated router sends hellos more often (ISO 10589, section 8.4.3). */
const designatedSpeed = 3;

interface LevelState {
  readonly level: Level;
  readonly database: LevelDatabase;
  helloAt: number;
  csnpAt: number;
  /** Designated system and its pseudonode; empty without one. */
  lanId: string;
}

/** An IS-IS router with one link (ISO 10589, RFC 1195) and a generated network behind it. */
export class IsisRouter {
  readonly adjacencies = new Map<string, IsisAdjacency>();
  readonly counters = { tx: 0, rx: 0, flaps: 0, invalid: 0 };
  lastError = '';
  readonly #options: IsisOptions;
  readonly #events: IsisEvents;
  readonly #levels: readonly LevelState[];
  #helloAt = never;
  #changeAt = never;
  #now = 0;

  constructor(options: IsisOptions, events: IsisEvents) {
    this.#options = options;
    this.#events = events;
    this.#levels = options.levels.map((level) => ({
      level,
      database: new LevelDatabase({
        ...options,
        level,
        isOwn: (systemId) => systemId === options.systemId || options.network.nodeOf(systemId) >= 0,
        send: (pdu) => this.#send(pdu, options.isBroadcast ? level : 'all'),
      }),
      helloAt: never,
      csnpAt: never,
      lanId: '',
    }));
  }

  /** LSPs of all levels. */
  get databaseSize(): number {
    return this.#levels.reduce((sum, { database }) => sum + database.lsps.size, 0);
  }

  databaseOf(level: Level): LevelDatabase | undefined {
    return this.#levels.find((one) => one.level === level)?.database;
  }

  start(now: number): void {
    const { network, changeSec, isBroadcast } = this.#options;
    this.#now = now;
    for (const state of this.#levels) {
      if (state.database.lsps.size === 0)
        for (let node = 0; node < network.nodes; node++)
          state.database.originate(`${network.systemIdOf(node)}00`, network.tlvsOf(node), now);
      this.#originateOwn(state);
      state.helloAt = isBroadcast ? now : never;
    }
    this.#helloAt = isBroadcast ? never : now;
    this.#changeAt = changeSec > 0 && network.nodes > 0 ? now + changeSec * 1000 : never;
  }

  /** Takes everything back that was flooded, ends all adjacencies and falls silent. */
  stop(now: number): void {
    this.#now = now;
    for (const { database } of this.#levels) database.withdrawAll(now);
    this.interrupt(now, 'router stopped');
    this.#changeAt = never;
  }

  /** Ends all adjacencies at once and falls silent, as if the link had failed. */
  interrupt(now: number, reason = 'interrupted'): void {
    this.#now = now;
    for (const adjacency of [...this.adjacencies.values()]) this.#lose(adjacency, reason);
    this.#helloAt = never;
    for (const state of this.#levels) state.helloAt = never;
  }

  /** Ends the adjacency with the neighbour that has an IPv4 address. */
  disconnect(address: number, reason: string, now: number): void {
    this.#now = now;
    for (const adjacency of [...this.adjacencies.values()])
      if (adjacency.addresses.includes(address)) this.#lose(adjacency, reason);
  }

  /** `source`: MAC of the sender as twelve hexadecimal digits. */
  receive(bytes: Uint8Array, source: string, now: number): void {
    this.#now = now;
    const { isBroadcast, authentication, mac } = this.#options;
    const isSilent = this.#helloAt === never && this.#levels.every(({ helloAt }) => helloAt === never);
    const pdu = source === mac || isSilent ? undefined : parsePdu(bytes);
    if (pdu === undefined || !isAuthentic(pdu, authentication)) {
      this.counters.invalid++;
      if (pdu !== undefined) this.lastError = 'authentication failed';
      return;
    }
    this.counters.rx++;
    if (pdu.type > pduType.pointToPointHello) this.#receiveRouting(pdu, source);
    else if ((pdu.type !== pduType.pointToPointHello) === isBroadcast) this.#receiveHello(readHello(pdu), source);
  }

  advance(now: number): void {
    this.#now = now;
    for (const adjacency of [...this.adjacencies.values()])
      if (now - adjacency.heardAt >= adjacency.holdMs) this.#lose(adjacency, 'hold time expired');
    if (now >= this.#helloAt) this.#sendPointToPointHello();
    if (now >= this.#changeAt) this.#changeMetric();
    for (const state of this.#levels) {
      if (now >= state.helloAt) this.#sendLanHello(state);
      if (now >= state.csnpAt) {
        state.csnpAt = now + this.#options.csnpSec * 1000;
        state.database.sendComplete(now);
      }
      state.database.advance(now);
    }
  }

  #send(pdu: Uint8Array, to: Level | 'all'): void {
    this.counters.tx++;
    this.#events.send(pdu, to);
  }

  #sendPointToPointHello(): void {
    this.#helloAt = this.#now + this.#options.helloSec * 1000;
    const [adjacency] = this.adjacencies.values();
    const state = adjacency?.state ?? adjacencyState.down;
    this.#send(writePointToPointHello(this.#options, { state, neighbour: adjacency?.systemId ?? '' }), 'all');
  }

  #sendLanHello(state: LevelState): void {
    const { helloSec, systemId } = this.#options;
    const { level, database } = state;
    state.helloAt = this.#now + (helloSec * 1000) / (database.isDesignated ? designatedSpeed : 1);
    const heard = this.#adjacenciesOf(level).map(({ mac }) => mac);
    const lanId = state.lanId === '' ? `${systemId}${ownPseudonode}` : state.lanId;
    this.#send(writeLanHello(this.#options, level, { lanId, heard }), level);
  }

  #adjacenciesOf(level: Level, state?: AdjacencyState): IsisAdjacency[] {
    return [...this.adjacencies.values()].filter(
      (one) => one.levels.includes(level) && (state === undefined || one.state === state),
    );
  }

  #receiveHello(hello: Hello, source: string): void {
    const { isBroadcast, levels, areas } = this.#options;
    const own = areas.map(hexOf);
    const isSameArea = hello.areas.some((area) => own.includes(area));
    const common = hello.levels.filter((level) => levels.includes(level) && (level === 2 || isSameArea));
    if (common.length === 0) {
      this.lastError = `hello of ${hello.systemId} of another level or area`;
      return;
    }
    const key = isBroadcast ? `${common[0]} ${source}` : 'neighbour';
    const known = this.adjacencies.get(key);
    if (known !== undefined && (known.systemId !== hello.systemId || known.mac !== source))
      this.#lose(known, 'another system answers');
    const adjacency = this.adjacencies.get(key) ?? this.#add(key, hello, source);
    adjacency.levels = common;
    adjacency.heardAt = this.#now;
    adjacency.holdMs = hello.holdSec * 1000;
    const isMoved = adjacency.priority !== hello.priority || adjacency.lanId !== hello.lanId;
    adjacency.priority = hello.priority;
    adjacency.lanId = hello.lanId;
    adjacency.addresses = hello.addresses;
    adjacency.topologies = hello.topologies;
    this.#setState(adjacency, isBroadcast ? this.#lanState(hello) : this.#linkState(hello, adjacency.state));
    if (isBroadcast && isMoved && adjacency.state === adjacencyState.up) this.#elect(this.#stateOf(common[0] as Level));
  }

  #add(key: string, { systemId, priority, lanId, addresses, topologies }: Hello, mac: string): IsisAdjacency {
    const times = { heardAt: this.#now, holdMs: 0, upAt: 0 };
    const adjacency: IsisAdjacency = {
      systemId,
      mac,
      levels: [],
      state: adjacencyState.down,
      priority,
      lanId,
      addresses,
      topologies,
      ...times,
    };
    this.adjacencies.set(key, adjacency);
    return adjacency;
  }

  #lanState({ heard }: Hello): AdjacencyState {
    return heard.includes(this.#options.mac) ? adjacencyState.up : adjacencyState.init;
  }

  /** The three-way handshake of RFC 5303; neighbours without it are up at once. */
  #linkState({ handshake }: Hello, own: AdjacencyState): AdjacencyState {
    if (handshake === undefined) return adjacencyState.up;
    if (handshake.neighbour !== '' && handshake.neighbour !== this.#options.systemId) return own;
    if (handshake.state === adjacencyState.down) return adjacencyState.init;
    if (handshake.state === adjacencyState.init) return adjacencyState.up;
    return own === adjacencyState.down ? adjacencyState.init : adjacencyState.up;
  }

  #setState(adjacency: IsisAdjacency, state: AdjacencyState, reason = 'neighbour forgot us'): void {
    const before = adjacency.state;
    if (state === before) return;
    adjacency.state = state;
    // The neighbour sees soon that it is heard.
    this.#helloAt = Math.min(this.#helloAt, this.#options.isBroadcast ? never : this.#now);
    for (const level of adjacency.levels) {
      const own = this.#stateOf(level);
      if (own.helloAt !== never) own.helloAt = this.#now;
    }
    if (state !== adjacencyState.up && before !== adjacencyState.up) return;
    const isUp = state === adjacencyState.up;
    if (isUp) adjacency.upAt = this.#now;
    else {
      this.counters.flaps++;
      this.lastError = reason;
    }
    for (const level of adjacency.levels) this.#onChange(this.#stateOf(level));
    this.#events.onAdjacency(adjacency, isUp, reason);
  }

  #lose(adjacency: IsisAdjacency, reason: string): void {
    for (const [key, one] of this.adjacencies) if (one === adjacency) this.adjacencies.delete(key);
    this.#setState(adjacency, adjacencyState.down, reason);
  }

  #stateOf(level: Level): LevelState {
    return this.#levels.find((state) => state.level === level) as LevelState;
  }

  /** A neighbour of the level is up, or no longer. */
  #onChange(state: LevelState): void {
    const { database, level } = state;
    const wasUp = database.isUp;
    database.isUp = this.#adjacenciesOf(level, adjacencyState.up).length > 0;
    if (!database.isUp) database.forgetNeighbours();
    if (this.#options.isBroadcast) this.#elect(state);
    this.#originateOwn(state);
    if (database.isUp && !wasUp) database.synchronise(this.#now);
  }

  /** The highest priority is designated, then the highest MAC. */
  #elect(state: LevelState): void {
    const { priority, mac, systemId } = this.#options;
    const { database, level } = state;
    const neighbours = this.#adjacenciesOf(level, adjacencyState.up);
    const better = neighbours.filter((one) => one.priority > priority || (one.priority === priority && one.mac > mac));
    const [best] = better.sort((a, b) => b.priority - a.priority || (a.mac < b.mac ? 1 : -1));
    const own = `${systemId}${ownPseudonode}`;
    const lanId = neighbours.length === 0 ? '' : best === undefined ? own : best.lanId;
    const isDesignated = lanId === own;
    if (isDesignated) database.originate(own, this.#pseudonodeTlvs(neighbours), this.#now);
    else if (database.isDesignated) database.withdraw(own, this.#now);
    if (isDesignated !== database.isDesignated) state.csnpAt = isDesignated ? this.#now : never;
    database.isDesignated = isDesignated;
    if (lanId === state.lanId) return;
    state.lanId = lanId;
    if (state.helloAt !== never) state.helloAt = this.#now;
    this.#originateOwn(state);
  }

  #pseudonodeTlvs(neighbours: readonly IsisAdjacency[]): Tlv[] {
    const systems = [this.#options.systemId, ...neighbours.map(({ systemId }) => systemId)];
    return packedTlvs(
      tlvType.reachableSystems,
      systems.map((system) => systemReachability(`${system}00`, 0)),
    );
  }

  #originateOwn({ level, database, lanId }: LevelState): void {
    const { network, address, prefixBits, metric, systemId, isBroadcast, isOverloaded, hasIpv4 } = this.#options;
    const up = this.#adjacenciesOf(level, adjacencyState.up);
    const systemsIn = (topology: number) => {
      const shared = up.filter(({ topologies }) => topologies.includes(topology));
      const nodes = isBroadcast ? (lanId === '' ? [] : [lanId]) : shared.map((one) => `${one.systemId}00`);
      if (network.nodes > 0) nodes.push(`${network.systemIdOf(0)}00`);
      return nodes.map((node) => systemReachability(node, metric));
    };
    const prefix = prefixBits === 0 ? 0 : address & (-1 << (32 - prefixBits));
    const tlvs = [
      ...network.commonTlvs(0, isOverloaded),
      ...(hasIpv4 ? [tlvOf(tlvType.addresses, (writer) => writer.u32(address))] : []),
      ...systemsTlvs(this.#options, systemsIn(topologyId.standard), systemsIn(topologyId.ipv6)),
      ...(hasIpv4 ? packedTlvs(tlvType.reachableIpv4, [ipv4Reachability(prefix, prefixBits, metric)]) : []),
    ];
    database.originate(`${systemId}00`, tlvs, this.#now);
  }

  #changeMetric(): void {
    const { network, changeSec, random } = this.#options;
    this.#changeAt = this.#now + changeSec * 1000;
    const node = network.changeMetric(random);
    for (const { database } of this.#levels)
      database.originate(`${network.systemIdOf(node)}00`, network.tlvsOf(node), this.#now);
  }

  #receiveRouting(pdu: ReceivedPdu, source: string): void {
    const isLevel1 = pdu.type === pduType.lsp1 || pdu.type === pduType.csnp1 || pdu.type === pduType.psnp1;
    const level = isLevel1 ? 1 : 2;
    const database = this.databaseOf(level);
    const isNeighbour = this.#adjacenciesOf(level, adjacencyState.up).some(({ mac }) => mac === source);
    if (database === undefined || !isNeighbour) return;
    if (pdu.type !== pduType.lsp1 && pdu.type !== pduType.lsp2) database.receiveSequenceNumbers(pdu, this.#now);
    else if (isLspValid(pdu)) database.receiveLsp(pdu, this.#now);
    else this.counters.invalid++;
  }
}
