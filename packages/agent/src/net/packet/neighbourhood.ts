import { setTimeout as sleep } from 'node:timers/promises';
import type { EpollPoller } from '../epoll/epoll-poller.ts';
import { closeSocket } from '../kernel/socket.ts';
import type { Device } from './device.ts';
import { sendFrame } from './frame-batch.ts';
import {
  answerFrame,
  type NeighbourMessage,
  questionFrame,
  readNeighbourMessage,
  type Speaker,
} from './neighbour-message.ts';
import { neighbourProgram } from './packet-filter.ts';
import { PacketRing } from './packet-ring.ts';
import { openSender } from './packet-socket.ts';

const ringSizes = { blocks: 64, blockBytes: 16_384, retireMs: 2 } as const;
const betweenQuestionsMs = 100;

export class NeighbourSilent extends Error {
  readonly code = 'NEXT_HOP_SILENT';
}

/** Whether this side answers for an address that was asked for; `isTagged` where the question came in a VLAN. */
export type AnswersFor = (address: string, isTagged: boolean) => boolean;

/** Asks neighbours for their MAC and answers for addresses that no interface has, in VLANs as well. */
export class Neighbourhood {
  readonly #device: Device;
  readonly #answersFor: AnswersFor;
  readonly #ring: PacketRing;
  readonly #sender: number;
  readonly #known = new Map<string, Buffer>();
  #isClosed = false;

  constructor(place: { readonly device: Device; readonly poller: EpollPoller }, answersFor: AnswersFor) {
    this.#device = place.device;
    this.#answersFor = answersFor;
    this.#sender = openSender(place.device);
    try {
      this.#ring = new PacketRing({ ...place, filter: neighbourProgram }, ringSizes, (frame) => {
        const message = readNeighbourMessage(frame);
        if (message !== undefined) this.#hear(message);
      });
    } catch (error) {
      closeSocket(this.#sender);
      throw error;
    }
  }

  /** The MAC of a neighbour; undefined when it does not answer in time. */
  async find(address: string, speaker: Omit<Speaker, 'mac'>, patienceMs: number): Promise<Buffer | undefined> {
    const end = performance.now() + patienceMs;
    while (!this.#known.has(address) && performance.now() < end && !this.#isClosed) {
      this.#say(questionFrame({ ...speaker, mac: this.#device.mac }, address));
      // Answers mostly come at once.
      for (let waited = 0; waited < betweenQuestionsMs && !this.#known.has(address); waited += 5) await sleep(5);
    }
    return this.#known.get(address);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#ring.close();
    closeSocket(this.#sender);
  }

  #hear(message: NeighbourMessage): void {
    if (message.kind === 'answer') this.#known.set(message.subject, message.mac);
    // Who has no address yet only asks whether one is free.
    else if (message.address !== '::' && this.#answersFor(message.subject, message.tags.length > 0))
      this.#say(answerFrame(message, this.#device.mac));
  }

  #say(frame: Buffer): void {
    try {
      sendFrame(this.#sender, frame);
    } catch {
      // A link that is down now may be up when it is asked again.
    }
  }
}
