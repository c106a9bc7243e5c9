import type { AccessGateway, Memory } from '@rushhour/wire';

/** The gateway of one interface. */
export interface GatewayLink {
  readonly gateway: AccessGateway;
  /** The checksums of the frame at hand need no verification. */
  readonly isChecked: boolean;
  poll(): void;
  flush(): void;
}

/** Hosts behind the gateway. */
export interface GatewayUser {
  /** An IPv4 packet of a subscriber; returns false if it is for none of the hosts. */
  onPacket(memory: Memory, start: number, end: number, isChecked: boolean): boolean;
  onIdle(): void;
  onRoom(): void;
}

/** The gateway of an entry of the access plane, on all its interfaces, and the hosts behind it. */
export class GatewayGroup {
  readonly links: readonly GatewayLink[];
  readonly #users = new Set<GatewayUser>();

  constructor(links: readonly GatewayLink[]) {
    this.links = links;
    for (const link of links)
      link.gateway.onPacket = (memory, start, end) => {
        for (const user of this.#users) if (user.onPacket(memory, start, end, link.isChecked)) return;
      };
  }

  /** Gives packets of subscribers to hosts until the returned function is called. */
  attach(user: GatewayUser): () => void {
    this.#users.add(user);
    return () => this.#users.delete(user);
  }

  /** Largest IP packet that every subscriber takes. */
  get mtu(): number {
    return Math.min(...this.links.map(({ gateway }) => gateway.mtu));
  }

  /** The frames that had arrived are handled. */
  onIdle(): void {
    for (const user of this.#users) user.onIdle();
  }

  /** Frames can be sent again. */
  onRoom(): void {
    for (const user of this.#users) user.onRoom();
  }

  poll(): void {
    for (const link of this.links) link.poll();
  }

  flush(): void {
    for (const link of this.links) link.flush();
  }
}
