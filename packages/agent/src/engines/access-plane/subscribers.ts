import { isIPv4 } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AccessPlaneConfig, PlaneCommand } from '@rushhour/protocol';
import { AccessClient, PacedSink, sessionState } from '@rushhour/wire';
import { AccessEvents } from '../../access/access-events.ts';
import { AccessMeters } from '../../access/access-meters.ts';
import type { EntryPort } from '../../access/access-port.ts';
import { AncpNode } from '../../access/ancp-node.ts';
import { openEntryPorts } from '../../access/entry-ports.ts';
import { address4, firstProfiles, type Profiles, requireProfile } from '../../access/options/access-profiles.ts';
import { clientOptionsOf } from '../../access/options/client-options.ts';
import { SessionGroup, type SessionLink } from '../../access/session-group.ts';
import { ChangedRows, clientRow } from '../../access/session-rows.ts';
import { LagPort } from '../../access/switches/lag-port.ts';
import { LinkFlaps } from '../../access/switches/link-flaps.ts';
import type { Commandable, EngineContext, Pausable, PreparedEngine } from '../../engine.ts';
import { aborted } from '../../net/loop/aborted.ts';
import { reportGroup } from './report-group.ts';

const reportMs = 1000;
/** Sessions that have not ended in order after this time are left to the other end. */
const endGraceMs = 8000;
const noMac = new Uint8Array(6);
const noPace = { txBurst: 65_536, txIntervalUs: 1000, mtu: 65_535 };

/** Traffic that ends at the same time as its sessions gets this long before they go. */
const trafficGraceMs = 1500;

/** What sessions report to: metrics, and the time line of the run. */
interface Reports {
  readonly meters: AccessMeters;
  readonly events: AccessEvents;
}

/** The subscribers of one interface. */
class SubscriberPort implements SessionLink {
  /** The traffic that goes through the sessions. */
  group: SessionGroup | undefined;
  /** Reports the lines of the sessions. */
  node: AncpNode | undefined;
  readonly first: number;
  readonly name: string;
  readonly client: AccessClient;
  readonly #port: EntryPort;
  readonly #sink: PacedSink;
  readonly #flaps: LinkFlaps;
  readonly #changed: ChangedRows;
  readonly #events: AccessEvents;
  #hasBegun = false;

  constructor(
    port: EntryPort,
    profiles: Profiles,
    share: { readonly first: number; readonly count: number },
    { meters, events }: Reports,
  ) {
    const { first, count } = share;
    this.#events = events;
    this.first = first;
    this.name = port.name;
    this.#port = port;
    this.#changed = new ChangedRows(count);
    const link = profiles.links?.link ?? noPace;
    const { txBurst: burst, mtu } = link;
    this.#sink = new PacedSink(port.sink, { burst, intervalMs: link.txIntervalUs / 1000, mtu });
    this.#flaps = new LinkFlaps(profiles.links?.flaps ?? { intervalSec: 0, downSec: 1, count: 0 });
    this.client = new AccessClient({
      ...clientOptionsOf(profiles, { first, count, interfaceMac: port.mac, interfaceName: port.name }),
      sink: this.#sink,
      random: Math.random,
      onJoined: (session, delayMs) => {
        this.#changed.add(session);
        meters.onJoined(session, delayMs);
      },
      onLeft: meters.onLeft,
      listener: {
        onStepDone: (session, step, tookMs) => {
          this.#changed.add(session);
          meters.onStepDone(session, step, tookMs);
        },
        onEstablished: (session, setupMs) => {
          this.#changed.add(session);
          meters.onEstablished(session, setupMs);
        },
        onNegotiated: (session) => this.#changed.add(session),
        onFlap: (session, cause) => {
          this.#changed.add(session);
          meters.onFlap(session, cause);
          events.onFlap(first + session, cause);
        },
        onFailed: (session, cause) => {
          this.#changed.add(session);
          meters.onFailed(session, cause);
          events.onFailed(first + session, cause);
        },
        onDown: (session) => this.group?.onDown(first + session),
      },
    });
  }

  open(): void {
    this.#port.open({
      receive: (memory, start, end) => this.client.receive(memory, start, end),
      advance: (nowMs) => this.#advance(nowMs),
      onIdle: () => this.group?.onIdle(),
      onRoom: () => this.group?.onRoom(),
      onLink: (isUp) => this.setLink(isUp),
    });
    // Sessions wait for the group of links.
    if (this.#port instanceof LagPort) this.setLink(false);
  }

  /** Starts the sessions at their pace. */
  begin(): void {
    this.#hasBegun = true;
    if (this.#port instanceof LagPort) this.#port.start();
    this.client.subscribers.begin();
  }

  /** Names of its interfaces. */
  get interfaces(): readonly string[] {
    return this.#port instanceof LagPort ? this.#port.members : [this.name];
  }

  /** Takes interfaces down or up, those of the names or all. */
  setInterfaces(isUp: boolean, names: readonly string[]): void {
    const chosen = this.interfaces.filter((name) => names.length === 0 || names.includes(name));
    if (this.#port instanceof LagPort) for (const name of chosen) this.#port.setMember(name, isUp);
    else if (chosen.length > 0) this.setLink(isUp);
  }

  get isChecked(): boolean {
    return this.#port.isChecked;
  }

  poll(): void {
    this.#port.poll();
  }

  flush(): void {
    this.#port.flush();
  }

  get count(): number {
    return this.client.lines.count;
  }

  /** Carries out what concerns the rows [from, to] of all. */
  inRange(from: number, to: number, action: (first: number, end: number) => void): void {
    const begin = Math.max(from - this.first, 0);
    const end = Math.min(to - this.first + 1, this.count);
    if (begin >= end) return;
    action(begin, end);
    for (let session = begin; session < end; session++) this.#changed.add(session);
  }

  setLink(isUp: boolean): void {
    if (this.#hasBegun && isUp !== this.client.isLinkUp) this.#events.onLink(this.name, isUp);
    this.client.setLink(isUp);
    this.#sink.isUp = isUp;
    this.node?.setLines(this.first, this.count, isUp);
    this.#changed.addAll();
  }

  report(context: EngineContext<AccessPlaneConfig>, { meters, events }: Reports, isLast: boolean): void {
    if (isLast) this.#changed.addAll();
    if (this.#port instanceof LagPort) reportGroup(this.#port, context, { meters, events });
    const { first, name } = this;
    for (const session of this.#changed.take(isLast ? this.count : undefined))
      context.putRow('sessions', clientRow(this.client, { first, interface: name, session }));
  }

  close(): void {
    this.#port.close();
  }

  #advance(nowMs: number): void {
    this.#flaps.advance(nowMs, (isUp) => this.setLink(isUp));
    this.client.advance(nowMs);
    this.#sink.advance(nowMs);
  }
}

/** All subscribers of an entry, on all its interfaces. */
class SubscriberRun implements PreparedEngine, Pausable, Commandable {
  readonly #context: EngineContext<AccessPlaneConfig>;
  readonly #meters: AccessMeters;
  readonly #events: AccessEvents;
  readonly #ports: SubscriberPort[] = [];
  readonly #group: SessionGroup;
  readonly #node: AncpNode | undefined;
  #reportedMs = performance.now();
  #hasBegun = false;
  #hasEnded = false;

  constructor(context: EngineContext<AccessPlaneConfig>) {
    const { config, samples, host } = context;
    const profiles = firstProfiles(config.profiles);
    const { load, traffic } = requireProfile(profiles, 'sessions');
    const { count } = load;
    const { interfaces } = config;
    this.#context = context;
    this.#meters = new AccessMeters(samples, traffic.label);
    this.#events = new AccessEvents(context.progress);
    // A port without a session is of no use.
    const used = profiles.lag === undefined ? interfaces.slice(0, count) : interfaces;
    const ports = openEntryPorts(used, profiles, host.isCaptured ?? false);
    try {
      for (const [index, port] of ports.entries()) {
        const first = Math.floor((count * index) / ports.length);
        const share = { first, count: Math.floor((count * (index + 1)) / ports.length) - first };
        const subscriberPort = new SubscriberPort(port, profiles, share, this.#reports);
        this.#ports.push(subscriberPort);
        subscriberPort.open();
      }
    } catch (error) {
      for (const port of ports) port.close();
      throw error;
    }
    this.#group = new SessionGroup(config.groupId, this.#ports, load);
    const { accessLine } = profiles;
    const [{ mac } = { mac: noMac }] = ports;
    if (accessLine?.ancp.enabled) this.#node = new AncpNode(accessLine, mac, count);
    for (const port of this.#ports) Object.assign(port, { group: this.#group, node: this.#node });
    // Engines of the traffic need the addresses when they are prepared.
    if (config.carriesTraffic && !host.isDryRun) this.#begin();
    context.accessGroups?.subscribers.register(config.groupId, this.#group);
  }

  get #reports(): Reports {
    return { meters: this.#meters, events: this.#events };
  }

  async start(): Promise<void> {
    const { signal } = this.#context;
    const timer = setInterval(() => this.#report(false), reportMs);
    try {
      this.#begin();
      await aborted(signal);
      const deadline = performance.now() + trafficGraceMs;
      while (this.#group.isUsed && performance.now() < deadline) await sleep(10);
      await this.#end();
    } finally {
      clearInterval(timer);
      this.#report(true);
    }
  }

  pause(): void {
    for (const { client } of this.#ports) client.subscribers.hold(true);
  }

  resume(): void {
    for (const { client } of this.#ports) if (client.isLinkUp) client.subscribers.hold(false);
  }

  command({ action, from = 0, to = Number.MAX_SAFE_INTEGER, values }: PlaneCommand): { readonly rejected?: string } {
    if (action === 'linkDown' || action === 'linkUp') return this.#setLinks(action === 'linkUp', values);
    const isGroupAction = action === 'join' || action === 'leave';
    if (isGroupAction && this.#ports.some(({ client }) => client.igmp === undefined))
      return { rejected: 'these sessions have no multicast groups: the entry needs a profile of igmp' };
    if (!isGroupAction && action !== 'start' && action !== 'stop' && action !== 'restart')
      return { rejected: `these sessions have nothing to ${action}` };
    const last = this.#ports.reduce((sum, { count }) => sum + count, 0) - 1;
    if (from > last || to < from) return { rejected: `there are sessions 0 to ${last}` };
    if (isGroupAction) return this.#changeGroups(action, { from, to, values });
    for (const port of this.#ports) port.inRange(from, to, (first, end) => port.client.subscribers[action](first, end));
    return {};
  }

  /** Joins or leaves groups; without any those of the profile. */
  #changeGroups(
    action: 'join' | 'leave',
    { from, to, values }: { from: number; to: number; values: readonly string[] | undefined },
  ): { readonly rejected?: string } {
    const hosts = this.#ports[0]?.client.igmp?.hosts;
    const groups = values?.map((text) => (isIPv4(text) ? (hosts?.groupOf(address4(text)) ?? -1) : -1));
    const unknown = values?.find((_, i) => groups?.[i] === -1);
    if (unknown !== undefined) return { rejected: `${unknown} is not a group of the profile` };
    for (const port of this.#ports)
      port.inRange(from, to, (first, end) => {
        for (let session = first; session < end; session++) port.client.igmp?.hosts[action](session, groups);
      });
    return {};
  }

  async close(): Promise<void> {
    if (this.#hasBegun && !this.#hasEnded) await this.#end();
    this.#node?.close();
    for (const port of this.#ports) port.close();
  }

  #begin(): void {
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    this.#node?.start();
    for (const port of this.#ports) port.begin();
  }

  #setLinks(isUp: boolean, names: readonly string[] = []): { readonly rejected?: string } {
    const unknown = names.find((name) => !this.#ports.some(({ interfaces }) => interfaces.includes(name)));
    if (unknown !== undefined) return { rejected: `${unknown} is not an interface of this entry` };
    for (const port of this.#ports) port.setInterfaces(isUp, names);
    return {};
  }

  /** Ends the sessions in order, at their pace. */
  async #end(): Promise<void> {
    this.#hasEnded = true;
    for (const { client } of this.#ports) client.subscribers.end();
    const deadline = performance.now() + endGraceMs;
    const isOver = () => this.#ports.every(({ client }) => client.subscribers.isOver);
    while (!isOver() && performance.now() < deadline) await sleep(10);
    const left = this.#ports.reduce((sum, { client: { subscribers } }) => {
      const { counts } = subscribers.table;
      return sum + (counts[sessionState.up] as number) + (counts[sessionState.closing] as number);
    }, 0);
    if (left > 0) this.#context.note(`${left} sessions were not ended in order within ${endGraceMs / 1000} s`);
  }

  #report(isLast: boolean): void {
    const now = performance.now();
    let [wanted, established] = [0, 0];
    for (const port of this.#ports) {
      const { table } = port.client.subscribers;
      wanted += table.count;
      established += table.counts[sessionState.up] as number;
      this.#meters.followClient(port.name, port.client);
      port.report(this.#context, this.#reports, isLast);
    }
    if (this.#node !== undefined) this.#meters.followLines('lines', this.#node);
    this.#meters.countSteps(this.#ports.map(({ client }) => client.subscribers.table));
    this.#meters.update({ wanted, established }, (now - this.#reportedMs) / 1000);
    if (!this.#hasEnded) this.#events.followCount({ wanted, established });
    this.#events.report(isLast);
    this.#reportedMs = now;
  }
}

export const prepareSubscribers = (context: EngineContext<AccessPlaneConfig>): PreparedEngine =>
  new SubscriberRun(context);
