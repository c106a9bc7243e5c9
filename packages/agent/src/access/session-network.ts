import type { HostStack } from '@rushhour/protocol';
import { copyAddress, formatAddress, isSameAddress, type Memory } from '@rushhour/wire';
import type { Counter } from '../engine.ts';
import type { HostNetwork } from '../net/host-network.ts';
import { createHostNetwork } from '../stack/host-network.ts';
import type { HostTable } from '../stack/hosts.ts';
import type { StackDeps } from '../stack/ports/open-stack.ts';
import type { FrameReceiver, Port } from '../stack/ports/port.ts';
import { Stack } from '../stack/stack.ts';
import type { AccessGroups } from './access-groups.ts';
import type { SessionGroup, SessionLink, SessionUser } from './session-group.ts';

const addressWords = 4;
const noHost = -1;

/** Hosts that have the addresses of sessions. A host keeps its session, whose address may change with every setup. */
class SessionHosts implements HostTable {
  readonly version: 4 | 6;
  readonly count: number;
  readonly sessions: Int32Array;
  /** The host whose packet is being received. */
  receiving = noHost;
  readonly #group: SessionGroup;
  /** Hosts by the address they had first. */
  readonly #named: ReadonlyMap<string, number>;
  readonly #address = new Int32Array(4);

  constructor(group: SessionGroup, sessions: Int32Array, version: 4 | 6) {
    this.#group = group;
    this.version = version;
    this.sessions = sessions;
    this.count = sessions.length;
    this.#named = new Map(Array.from(sessions, (_, host) => [this.#textOf(host), host]));
  }

  /** The address that a host had first is its name. */
  hostNamed(text: string): number | undefined {
    return this.#named.get(text);
  }

  indexOf(address: Int32Array, at: number): number {
    if (this.receiving !== noHost) return this.#isAt(this.receiving, address, at) ? this.receiving : noHost;
    for (let host = 0; host < this.count; host++) if (this.#isAt(host, address, at)) return host;
    return noHost;
  }

  /** Whether a host has an address now. */
  #isAt(host: number, address: Int32Array, at: number): boolean {
    const hasAddress = this.#group.writeAddress(this.sessions[host] as number, this.version, this.#address);
    return hasAddress && isSameAddress(this.#address, 0, address, at);
  }

  writeAddress(host: number, to: Int32Array, at: number): void {
    if (this.#group.writeAddress(this.sessions[host] as number, this.version, this.#address))
      copyAddress(this.#address, 0, to, at);
    else to.fill(0, at, at + addressWords);
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
    const words = new Int32Array(addressWords);
    this.writeAddress(host, words, 0);
    return formatAddress(words, 0);
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
  readonly #address = new Int32Array(addressWords);
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
    if (!client.isUp(session - first) || !client.writeAddress(session - first, this.#hosts.version, this.#address))
      return -1;
    // A flow from before the address changed must not send from an address that another session may have by now.
    if (keys !== undefined && !isSameAddress(keys, at, this.#address, 0)) return -1;
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

/** The sessions of a job's share that are up and have an address. */
const sessionsOf = (group: SessionGroup, { index, count, isIpv6 }: NonNullable<HostStack['sessions']>): Int32Array => {
  const words = new Int32Array(addressWords);
  const canSend = (session: number) => group.isUp(session) && group.writeAddress(session, isIpv6 ? 6 : 4, words);
  return Int32Array.from({ length: group.count }, (_, session) => session).filter(
    (session) => session % count === index && canSend(session),
  );
};

const noneOf = ({ isIpv6 }: NonNullable<HostStack['sessions']>) => `they have no address of IPv${isIpv6 ? 6 : 4}`;

/** The hosts of a job whose addresses are those of access sessions, once these are up. */
export const openSessionNetwork = async (config: HostStack, deps: SessionDeps): Promise<HostNetwork> => {
  const share = config.sessions as NonNullable<HostStack['sessions']>;
  const group = await deps.accessGroups.subscribers.find(share.groupId);
  const established = await group.settle(deps.signal);
  const sessions = sessionsOf(group, share);
  if (sessions.length === 0)
    throw new Error(
      `no session of access group ${group.id} is up to carry the traffic: ${group.causes || noneOf(share)}`,
    );
  if (established < group.count)
    deps.note(`${established} of ${group.count} sessions carry the traffic; the others: ${group.causes}`);
  const hosts = new SessionHosts(group, sessions, share.isIpv6 ? 6 : 4);
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
