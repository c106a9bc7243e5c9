import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { epollPoller } from '../../../net/epoll/epoll-poller.ts';
import { closeSocket } from '../../../net/kernel/socket.ts';
import { type Device, DeviceGone, linkStateOf } from '../../../net/packet/device.ts';
import type { Layer } from '../../../net/packet/frame/layer.ts';
import { signatureBytes, signatureFilter } from '../../../net/packet/frame/signature.ts';
import { sendFrame } from '../../../net/packet/frame-batch.ts';
import { trailerProgram } from '../../../net/packet/packet-filter.ts';
import { PacketRing } from '../../../net/packet/packet-ring.ts';
import { openSender } from '../../../net/packet/packet-socket.ts';
import { readTrialAnswer, type TrialCount, type TrialQuestion, trialQuestion } from './rfc2544-message.ts';

const ringSizes = { blocks: 64, blockBytes: 16_384, retireMs: 1 } as const;
const betweenQuestionsMs = 100;
const lookMs = 5;

/** The receiver does not answer; without its counts there is no result. */
export class ReceiverSilent extends Error {
  readonly code = 'RECEIVER_SILENT';
}

/** The link of the sender went down; the trial is invalid. */
export class LinkLost extends Error {
  readonly code = 'LINK_DOWN';
}

/** Queries the receiver over the path under test; retries until it answers. */
export class TrialInquiry {
  readonly #device: Device;
  readonly #layers: readonly Layer[];
  readonly #ring: PacketRing;
  readonly #sender: number;
  #awaited: Buffer | undefined;
  #answer: TrialCount | undefined;

  constructor(device: Device, layers: readonly Layer[]) {
    this.#device = device;
    this.#layers = layers;
    this.#sender = openSender(device);
    const filter = trailerProgram(signatureBytes, signatureFilter);
    try {
      this.#ring = new PacketRing({ device, poller: epollPoller(), filter }, ringSizes, (frame) => {
        if (this.#awaited !== undefined) this.#answer ??= readTrialAnswer(frame, this.#awaited);
      });
    } catch (error) {
      closeSocket(this.#sender);
      throw error;
    }
  }

  /** Undefined when aborted. */
  async ask(question: Omit<TrialQuestion, 'nonce'>, patienceMs: number, signal: AbortSignal) {
    const nonce = randomBytes(8);
    const frame = trialQuestion(this.#layers, { ...question, nonce });
    this.#awaited = nonce;
    this.#answer = undefined;
    const end = performance.now() + patienceMs;
    while (performance.now() < end && !signal.aborted) {
      this.#say(frame);
      for (let waited = 0; waited < betweenQuestionsMs && !signal.aborted; waited += lookMs) {
        await sleep(lookMs);
        if (this.#answer !== undefined) return this.#answer as TrialCount;
      }
    }
    if (signal.aborted) return undefined;
    if (linkStateOf(this.#device.name) === 'down') throw new LinkLost(`the link of ${this.#device.name} is down`);
    throw new ReceiverSilent(
      `the receiver did not report its counts within ${patienceMs / 1000} s: check the return path`,
    );
  }

  close(): void {
    this.#ring.close();
    closeSocket(this.#sender);
  }

  #say(frame: Buffer): void {
    try {
      sendFrame(this.#sender, frame);
    } catch {
      // A link that is down may come up before the next try; a removed interface will not.
      if (linkStateOf(this.#device.name) === 'gone') throw new DeviceGone(this.#device.name);
    }
  }
}
