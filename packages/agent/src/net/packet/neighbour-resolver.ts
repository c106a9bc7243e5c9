import { setTimeout as sleep } from 'node:timers/promises';
import type { EpollPoller } from '../epoll/epoll-poller.ts';
import { closeSocket } from '../kernel/socket.ts';
import type { Device } from './device.ts';
import { sendFrame } from './frame-batch.ts';
import {
  type NeighbourMessage,
  type NeighbourSender,
  readNeighbourMessage,
  replyFrame,
  requestFrame,
} from './neighbour-message.ts';
import { neighbourProgram } from './packet-filter.ts';
import { PacketRing } from './packet-ring.ts';
import { openSender } from './packet-socket.ts';

const ringSizes = { blocks: 64, blockBytes: 16_384, retireMs: 2 } as const;
const retryMs = 100;

export class NextHopSilent extends Error {
  readonly code = 'NEXT_HOP_SILENT';
}

/** Whether to answer for a requested address; `isTagged` if the request came in a VLAN. */
export type AnswersFor = (address: string, isTagged: boolean) => boolean;

interface NeighbourResolverOptions {
  readonly device: Device;
  readonly poller: EpollPoller;
  /** MAC of an address of ours; by default that of the interface, which alone receives without promiscuous mode. */
  readonly macOf?: ((address: string) => Uint8Array) | undefined;
}

/**
 * Resolves MAC addresses of neighbours (ARP and neighbour discovery) and answers for addresses that no interface has,
 * in VLANs as well.
 */
export class NeighbourResolver {
  readonly #macOf: (address: string) => Uint8Array;
  readonly #answersFor: AnswersFor;
  readonly #ring: PacketRing;
  readonly #fd: number;
  readonly #known = new Map<string, Buffer>();
  #isClosed = false;

  constructor(options: NeighbourResolverOptions, answersFor: AnswersFor) {
    const { macOf } = options;
    this.#macOf = macOf ?? (() => options.device.mac);
    this.#answersFor = answersFor;
    this.#fd = openSender(options.device);
    try {
      const ring = { ...options, filter: neighbourProgram, isPromiscuous: macOf !== undefined };
      this.#ring = new PacketRing(ring, ringSizes, (frame) => {
        const message = readNeighbourMessage(frame);
        if (message !== undefined) this.#handle(message);
      });
    } catch (error) {
      closeSocket(this.#fd);
      throw error;
    }
  }

  /** The MAC address of a neighbour; undefined if it does not answer in time. */
  async resolve(address: string, sender: Omit<NeighbourSender, 'mac'>, timeoutMs: number): Promise<Buffer | undefined> {
    const end = performance.now() + timeoutMs;
    while (!this.#known.has(address) && performance.now() < end && !this.#isClosed) {
      this.#send(requestFrame({ ...sender, mac: this.#macOf(sender.address) }, address));
      // Replies usually arrive at once.
      for (let waited = 0; waited < retryMs && !this.#known.has(address); waited += 5) await sleep(5);
    }
    return this.#known.get(address);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#ring.close();
    closeSocket(this.#fd);
  }

  #handle(message: NeighbourMessage): void {
    if (message.kind === 'reply') this.#known.set(message.target, message.mac);
    // The unspecified source address marks duplicate address detection, which is not answered.
    else if (message.address !== '::' && this.#answersFor(message.target, message.tags.length > 0))
      this.#send(replyFrame(message, this.#macOf(message.target)));
  }

  #send(frame: Buffer): void {
    try {
      sendFrame(this.#fd, frame);
    } catch {
      // The link may be up again at the next request.
    }
  }
}
