import type { HostStack } from '@rushhour/protocol';
import { type Memory, writeMapped } from '@rushhour/wire';
import type { HostNetwork } from '../net/host-network.ts';
import { createHostNetwork } from '../stack/host-network.ts';
import { Hosts } from '../stack/hosts.ts';
import type { FrameReceiver, Port } from '../stack/ports/port.ts';
import { Stack } from '../stack/stack.ts';
import type { GatewayGroup, GatewayLink, GatewayUser } from './gateway-group.ts';
import type { SessionDeps } from './session-network.ts';

const destination4At = 16;
const destination6At = 24;
const addressWords = 4;
const header4Bytes = 20;
const header6Bytes = 40;
const noMac = new Uint8Array(6);

/** Carries IP packets between hosts behind a gateway and its subscribers. */
class GatewayPort implements Port, GatewayUser {
  readonly name = 'access gateway';
  readonly hasEthernet = false;
  readonly sendErrors = 0;
  sentFrames = 0;
  readonly #group: GatewayGroup;
  readonly #hosts: Hosts;
  readonly #detach: () => void;
  readonly #destination = new Int32Array(4);
  #receiver: FrameReceiver | undefined;
  #link: GatewayLink;

  constructor(group: GatewayGroup, hosts: Hosts) {
    this.#group = group;
    this.#hosts = hosts;
    this.#link = group.links[0] as GatewayLink;
    this.#detach = group.attach(this);
  }

  get memory(): Memory {
    return this.#link.gateway.frames.memory;
  }

  get mtu(): number {
    return this.#group.mtu;
  }

  begin(length: number, _host: number, keys?: Int32Array, at = 0): number {
    if (keys === undefined) return -1;
    const subscriberAt = at + addressWords;
    const link = this.#group.links.find(({ gateway }) => gateway.reaches(keys, subscriberAt));
    if (link === undefined) return -1;
    this.#link = link;
    return link.gateway.beginPacket(keys, subscriberAt, length);
  }

  commit(offset: number, length: number): void {
    this.#link.gateway.sendPacket(offset, offset + length);
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

  onPacket(memory: Memory, start: number, end: number, isChecked: boolean): boolean {
    if (!this.#readDestination(memory, start, end)) return false;
    if (this.#hosts.indexOf(this.#destination, 0) < 0) return false;
    this.#receiver?.onFrame(memory, start, end, isChecked);
    return true;
  }

  #readDestination({ view }: Memory, start: number, end: number): boolean {
    const version = view.getUint8(start) >>> 4;
    if (end - start < (version === 6 ? header6Bytes : header4Bytes)) return false;
    if (version === 6)
      for (let i = 0; i < addressWords; i++) this.#destination[i] = view.getInt32(start + destination6At + 4 * i);
    else writeMapped(this.#destination, 0, view.getInt32(start + destination4At));
    return true;
  }

  onIdle(): void {
    this.#receiver?.onIdle();
  }

  onRoom(): void {
    this.#receiver?.onRoom();
  }
}

/** The hosts of a job that only subscribers of a gateway reach. */
export const openGatewayNetwork = async (config: HostStack, deps: SessionDeps): Promise<HostNetwork> => {
  const { groupId } = config.sessions as NonNullable<HostStack['sessions']>;
  const group = await deps.accessGroups.gateways.find(groupId);
  const hosts = new Hosts({ networks: config.networks, vlan: [] }, noMac);
  const port = new GatewayPort(group, hosts);
  try {
    return createHostNetwork(new Stack(config, { hosts }, port), deps.samples);
  } catch (error) {
    port.close();
    throw error;
  }
};
