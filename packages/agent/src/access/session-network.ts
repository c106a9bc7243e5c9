import type { HostStack } from '@rushhour/protocol';
import { formatAddress, type Memory, writeMapped } from '@rushhour/wire';
import type { Counter } from '../engine.ts';
import type { HostNetwork } from '../net/host-network.ts';
import { createHostNetwork } from '../stack/host-network.ts';
import type { HostTable } from '../stack/hosts.ts';
import type { StackDeps } from '../stack/open-stack.ts';
import type { FrameReceiver, Port } from '../stack/port.ts';
import { Stack } from '../stack/stack.ts';
import type { AccessGroups } from './access-groups.ts';
import type { SessionGroup, SessionLink, SessionUser } from './session-group.ts';

const noAddress = 0;
const noHost = -1;

/** Hosts that have the addresses of sessions. A host keeps its session, whose address may change with every setup. */
class SessionHosts implements HostTable {
  readonly version = 4;
  readonly count: number;
  readonly sessions: Int32Array;
  /** The host whose packet is being received. */
  receiving = noHost;
  readonly #group: SessionGroup;
  /** Hosts by the address they had first. */
  readonly #named: ReadonlyMap<string, number>;
  readonly #address = new Int32Array(4);

  constructor(group: SessionGroup, sessions: Int32Array) {
    this.#group = group;
    this.sessions = sessions;
    this.count = sessions.length;
    this.#named = new Map(Array.from(sessions, (_, host) => [this.#textOf(host), host]));
  }

  /** The address that a host had first is its name. */
  hostNamed(text: string): number | undefined {
    return this.#named.get(text);
  }

  indexOf(address: Int32Array, at: number): number {
    if (address[at] !== 0 || address[at + 1] !== 0 || address[at + 2] !== 0xffff) return noHost;
    const wanted = address[at + 3] as number;
    if (this.receiving !== noHost) return this.addressOf(this.receiving) === wanted ? this.receiving : noHost;
    return this.sessions.findIndex((session) => this.#group.addressOf(session) === wanted);
  }

  addressOf(host: number): number {
    return this.#group.addressOf(this.sessions[host] as number);
  }

  writeAddress(host: number, to: Int32Array, at: number): void {
    writeMapped(to, at, this.addressOf(host));
  }

  sourceFor(host: number, _like: Int32Array, _likeAt: number, to: Int32Array, toAt: number): void {
    this.writeAddress(host, to, toAt);
  }

  writeMac(host: number, bytes: Uint8Array, at: number): void {
    const session = this.sessions[host] as number;
    const { client, first } = this.#group.linkOf(session);
    client.lines.writeMac(session - first, bytes, at);
  }

  /** The tags are a matter of the session. */
  tagsOf(): number {
    return 0;
  }

  /** Everything goes to the other end of the session. */
  nextHop(_host: number, destination: Int32Array, at: number, to: Int32Array): boolean {
    to.set(destination.subarray(at, at + 4));
    return true;
  }

  #textOf(host: number): string {
    this.writeAddress(host, this.#address, 0);
    return formatAddress(this.#address, 0);
  }
}

/** Carries the IP packets of hosts in their sessions. */
class SessionPort implements Port, SessionUser {
  readonly name = 'access sessions';
  readonly hasEthernet = false;
  readonly sendErrors = 0;
  sentFrames = 0;
  /** Called once for hosts whose sessions have gone down since the last call. */
  onGone: (hosts: ReadonlySet<number>) => void = () => {};
  readonly #group: SessionGroup;
  readonly #hosts: SessionHosts;
  readonly #detach: () => void;
  #receiver: FrameReceiver | undefined;
  #link: SessionLink;
  #session = 0;
  #gone = new Set<number>();

  constructor(group: SessionGroup, hosts: SessionHosts) {
    this.#group = group;
    this.#hosts = hosts;
    this.#link = group.linkOf(0);
    this.#detach = group.attach(hosts.sessions, this);
  }

  get memory(): Memory {
    return this.#link.client.frames.memory;
  }

  get mtu(): number {
    return this.#group.mtu;
  }

  isUp(host: number): boolean {
    return this.#group.isUp(this.#hosts.sessions[host] as number);
  }

  begin(length: number, host: number, keys?: Int32Array, at = 0): number {
    const session = this.#hosts.sessions[host] as number;
    const link = this.#group.linkOf(session);
    const { client, first } = link;
    const address = client.protocol?.addressOf(session - first) ?? 0;
    // A flow from before the address changed must not send from an address that another session may have by now.
    const isStale = keys !== undefined && keys[at + 3] !== address;
    if (address === noAddress || isStale || !client.isUp(session - first)) return -1;
    this.#link = link;
    this.#session = session - first;
    return client.beginPacket(this.#session, length);
  }

  commit(offset: number, length: number): void {
    this.#link.client.sendPacket(this.#session, offset, offset + length);
    this.sentFrames++;
  }

  takeDrops(): number {
    return 0;
  }

  receive(receiver: FrameReceiver): void {
    this.#receiver = receiver;
  }

  poll(): void {
    this.#group.poll();
  }

  flush(): void {
    this.#group.flush();
  }

  close(): void {
    this.#detach();
  }

  onPacket(host: number, memory: Memory, start: number, end: number, isChecked: boolean): void {
    this.#hosts.receiving = host;
    this.#receiver?.onFrame(memory, start, end, isChecked);
    this.#hosts.receiving = noHost;
  }

  onDown(host: number): void {
    if (this.#gone.size === 0) queueMicrotask(() => this.#reportGone());
    this.#gone.add(host);
  }

  onIdle(): void {
    this.#receiver?.onIdle();
  }

  onRoom(): void {
    this.#receiver?.onRoom();
  }

  #reportGone(): void {
    const gone = this.#gone;
    this.#gone = new Set();
    this.onGone(gone);
  }
}

/** A session that goes down takes its flows with it. */
const endFlows = ({ group }: Stack, gone: ReadonlySet<number>, lost: Counter): void => {
  const isGone = (path: number) => gone.has(path);
  lost.add(group.tcp.failPaths(isGone, 'ENETUNREACH'));
  group.udp.dropUnreachable(isGone);
  group.icmp.dropUnreachable(isGone);
};

export interface SessionDeps extends StackDeps {
  readonly accessGroups: AccessGroups;
  readonly signal: AbortSignal;
}

/** The sessions of a job's share that are up. */
const sessionsOf = (group: SessionGroup, { index, count }: NonNullable<HostStack['sessions']>): Int32Array =>
  Int32Array.from({ length: group.count }, (_, session) => session).filter(
    (session) => session % count === index && group.isUp(session) && group.addressOf(session) !== noAddress,
  );

/** The hosts of a job whose addresses are those of access sessions, once these are up. */
export const openSessionNetwork = async (config: HostStack, deps: SessionDeps): Promise<HostNetwork> => {
  const share = config.sessions as NonNullable<HostStack['sessions']>;
  const group = await deps.accessGroups.subscribers.find(share.groupId);
  const established = await group.settle(deps.signal);
  const sessions = sessionsOf(group, share);
  if (sessions.length === 0)
    throw new Error(`no session of access group ${group.id} is up to carry the traffic: ${group.causes}`);
  if (established < group.count)
    deps.note(`${established} of ${group.count} sessions carry the traffic; the others: ${group.causes}`);
  const hosts = new SessionHosts(group, sessions);
  const port = new SessionPort(group, hosts);
  const lost = deps.samples.counter('access.flowsLost');
  try {
    const stack = new Stack(config, { hosts }, port);
    port.onGone = (gone) => endFlows(stack, gone, lost);
    return createHostNetwork(stack, deps.samples);
  } catch (error) {
    port.close();
    throw error;
  }
};
