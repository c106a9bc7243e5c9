import { ACK, FIN, type Frame, RST, SYN } from '../dissect/frame.ts';
import type { Flow } from './flow.ts';
import type { PayloadSink } from './payload-sink.ts';
import { acceptAnswer, acceptSegment, anchor, finishFlow, type Segment } from './reassembly.ts';
import type { Session } from './session.ts';

/** Follows handshake, payload and close of TCP sessions. */
export class TcpConversation {
  readonly #payload: PayloadSink;
  readonly #segment: Segment = { sequence: 0, bytes: new Uint8Array(0), start: 0, captured: 0, length: 0 };

  constructor(payload: PayloadSink) {
    this.#payload = payload;
  }

  /** Returns false when the frame only repeats what was seen before. */
  accept(session: Session, from: Flow, to: Flow, frame: Frame): boolean {
    const { flags } = frame;
    const isRepeatedSyn = (flags & SYN) !== 0 && !this.#synchronize(session, from, frame);
    if ((flags & RST) !== 0) {
      session.hasReset = true;
      // A RST may carry text and any acknowledgement number; neither is part of the stream.
      return true;
    }
    if ((flags & ACK) !== 0) this.#acknowledge(session, from, to, frame);
    const brought = frame.payloadLength === 0 || this.#takePayload(from, to, frame);
    const isRepeatedFin = (flags & FIN) !== 0 && !this.#close(from, frame);
    if (frame.payloadLength > 0) return brought || ((flags & FIN) !== 0 && !isRepeatedFin);
    return !isRepeatedSyn && !isRepeatedFin;
  }

  #synchronize(session: Session, from: Flow, frame: Frame): boolean {
    const side = from.isA ? 1 : 2;
    if ((frame.flags & ACK) === 0) session.synFrom ||= side;
    else session.synAckFrom ||= side;
    if (from.hasSynchronized && from.initialSequence === frame.sequence) {
      from.retransmissions++;
      return false;
    }
    // The same ports started over without a close: the stream goes on from the new number.
    if (from.isAnchored) finishFlow(from, this.#payload);
    from.hasSynchronized = true;
    from.isFinalKnown = false;
    from.isAcknowledged = false;
    from.initialSequence = frame.sequence;
    anchor(from, (frame.sequence + 1) | 0);
    return true;
  }

  #acknowledge(session: Session, from: Flow, to: Flow, frame: Frame): void {
    if (session.synAckFrom !== 0 && (frame.flags & SYN) === 0 && session.synAckFrom !== (from.isA ? 1 : 2)) {
      session.isHandshakeAcknowledged = true;
    }
    if (!to.isAcknowledged || ((frame.acknowledgement - to.acknowledged) | 0) > 0) {
      to.acknowledged = frame.acknowledgement;
      to.isAcknowledged = true;
    }
  }

  #takePayload(from: Flow, to: Flow, frame: Frame): boolean {
    if (to.isAnchored && frame.acknowledgement !== to.nextSequence && (frame.flags & ACK) !== 0) {
      acceptAnswer(to, frame.acknowledgement, this.#payload);
    }
    const segment = this.#segment;
    // Data of a SYN starts one number later.
    segment.sequence = (frame.sequence + ((frame.flags & SYN) === 0 ? 0 : 1)) | 0;
    segment.bytes = frame.bytes;
    segment.start = frame.payloadStart;
    segment.captured = frame.payloadCaptured;
    segment.length = frame.payloadLength;
    return acceptSegment(from, segment, this.#payload);
  }

  #close(from: Flow, frame: Frame): boolean {
    const sequence = (frame.sequence + frame.payloadLength) | 0;
    if (from.isFinalKnown && from.finalSequence === sequence) return false;
    from.hasFinished = true;
    from.isFinalKnown = true;
    from.finalSequence = sequence;
    if (!from.isAnchored) anchor(from, sequence);
    return true;
  }
}
