/** Marks that say in which lists of the stack a connection is: they outlast its end. */
const listMarks = (1 << 19) | (1 << 20);

/** Marks and small numbers of a connection, packed: as fields of their own each would take eight bytes of it. */
export class PackedFields {
  marks = 0;
  numbers = 0;

  get isV6(): boolean {
    return (this.marks & (1 << 0)) !== 0;
  }
  set isV6(is: boolean) {
    this.marks = is ? this.marks | (1 << 0) : this.marks & ~(1 << 0);
  }

  get hasUrgentOut(): boolean {
    return (this.marks & (1 << 1)) !== 0;
  }
  set hasUrgentOut(is: boolean) {
    this.marks = is ? this.marks | (1 << 1) : this.marks & ~(1 << 1);
  }

  get isFinQueued(): boolean {
    return (this.marks & (1 << 2)) !== 0;
  }
  set isFinQueued(is: boolean) {
    this.marks = is ? this.marks | (1 << 2) : this.marks & ~(1 << 2);
  }

  /** Every byte up to and including the FIN was sent once. */
  get isFinSent(): boolean {
    return (this.marks & (1 << 3)) !== 0;
  }
  set isFinSent(is: boolean) {
    this.marks = is ? this.marks | (1 << 3) : this.marks & ~(1 << 3);
  }

  get wantsSent(): boolean {
    return (this.marks & (1 << 4)) !== 0;
  }
  set wantsSent(is: boolean) {
    this.marks = is ? this.marks | (1 << 4) : this.marks & ~(1 << 4);
  }

  get isPaused(): boolean {
    return (this.marks & (1 << 5)) !== 0;
  }
  set isPaused(is: boolean) {
    this.marks = is ? this.marks | (1 << 5) : this.marks & ~(1 << 5);
  }

  get isFinReceived(): boolean {
    return (this.marks & (1 << 6)) !== 0;
  }
  set isFinReceived(is: boolean) {
    this.marks = is ? this.marks | (1 << 6) : this.marks & ~(1 << 6);
  }

  get hasUrgent(): boolean {
    return (this.marks & (1 << 7)) !== 0;
  }
  set hasUrgent(is: boolean) {
    this.marks = is ? this.marks | (1 << 7) : this.marks & ~(1 << 7);
  }

  get hasEarlyFin(): boolean {
    return (this.marks & (1 << 8)) !== 0;
  }
  set hasEarlyFin(is: boolean) {
    this.marks = is ? this.marks | (1 << 8) : this.marks & ~(1 << 8);
  }

  get mustAck(): boolean {
    return (this.marks & (1 << 9)) !== 0;
  }
  set mustAck(is: boolean) {
    this.marks = is ? this.marks | (1 << 9) : this.marks & ~(1 << 9);
  }

  get usesTimestamps(): boolean {
    return (this.marks & (1 << 10)) !== 0;
  }
  set usesTimestamps(is: boolean) {
    this.marks = is ? this.marks | (1 << 10) : this.marks & ~(1 << 10);
  }

  get usesSack(): boolean {
    return (this.marks & (1 << 11)) !== 0;
  }
  set usesSack(is: boolean) {
    this.marks = is ? this.marks | (1 << 11) : this.marks & ~(1 << 11);
  }

  get usesEcn(): boolean {
    return (this.marks & (1 << 12)) !== 0;
  }
  set usesEcn(is: boolean) {
    this.marks = is ? this.marks | (1 << 12) : this.marks & ~(1 << 12);
  }

  get usesScale(): boolean {
    return (this.marks & (1 << 13)) !== 0;
  }
  set usesScale(is: boolean) {
    this.marks = is ? this.marks | (1 << 13) : this.marks & ~(1 << 13);
  }

  /** ECN: answer congestion with ECE until CWR arrives. */
  get echoesCongestion(): boolean {
    return (this.marks & (1 << 14)) !== 0;
  }
  set echoesCongestion(is: boolean) {
    this.marks = is ? this.marks | (1 << 14) : this.marks & ~(1 << 14);
  }

  /** ECN: the next new data carries CWR. */
  get mustSendCwr(): boolean {
    return (this.marks & (1 << 15)) !== 0;
  }
  set mustSendCwr(is: boolean) {
    this.marks = is ? this.marks | (1 << 15) : this.marks & ~(1 << 15);
  }

  get hasReordering(): boolean {
    return (this.marks & (1 << 16)) !== 0;
  }
  set hasReordering(is: boolean) {
    this.marks = is ? this.marks | (1 << 16) : this.marks & ~(1 << 16);
  }

  get isProbing(): boolean {
    return (this.marks & (1 << 17)) !== 0;
  }
  set isProbing(is: boolean) {
    this.marks = is ? this.marks | (1 << 17) : this.marks & ~(1 << 17);
  }

  /** The probe repeated data instead of sending new data. */
  get isProbeRepeat(): boolean {
    return (this.marks & (1 << 18)) !== 0;
  }
  set isProbeRepeat(is: boolean) {
    this.marks = is ? this.marks | (1 << 18) : this.marks & ~(1 << 18);
  }

  get isDirty(): boolean {
    return (this.marks & (1 << 19)) !== 0;
  }
  set isDirty(is: boolean) {
    this.marks = is ? this.marks | (1 << 19) : this.marks & ~(1 << 19);
  }

  get isBlocked(): boolean {
    return (this.marks & (1 << 20)) !== 0;
  }
  set isBlocked(is: boolean) {
    this.marks = is ? this.marks | (1 << 20) : this.marks & ~(1 << 20);
  }

  get state(): number {
    return this.numbers & 15;
  }
  set state(value: number) {
    this.numbers = (this.numbers & ~15) | value;
  }

  /** Phase of loss recovery. */
  get phase(): number {
    return (this.numbers >>> 4) & 7;
  }
  set phase(value: number) {
    this.numbers = (this.numbers & ~(7 << 4)) | (value << 4);
  }

  /** Use of the retransmission timer. */
  get retransmitUse(): number {
    return (this.numbers >>> 7) & 7;
  }
  set retransmitUse(value: number) {
    this.numbers = (this.numbers & ~(7 << 7)) | (value << 7);
  }

  get sndShift(): number {
    return (this.numbers >>> 10) & 15;
  }
  set sndShift(value: number) {
    this.numbers = (this.numbers & ~(15 << 10)) | (value << 10);
  }

  get rcvShift(): number {
    return (this.numbers >>> 14) & 15;
  }
  set rcvShift(value: number) {
    this.numbers = (this.numbers & ~(15 << 14)) | (value << 14);
  }

  /** Doublings of the timeout; more than 63 do not count. */
  get backoff(): number {
    return (this.numbers >>> 18) & 63;
  }
  set backoff(value: number) {
    this.numbers = (this.numbers & ~(63 << 18)) | (Math.min(value, 63) << 18);
  }

  /** Unanswered repetitions of what is sent, or keep-alive probes; more than 255 do not count. */
  get retries(): number {
    return this.numbers >>> 24;
  }
  set retries(value: number) {
    this.numbers = (this.numbers & ~(255 << 24)) | (Math.min(value, 255) << 24);
  }

  resetPacked(): void {
    this.marks &= listMarks;
    this.numbers = 0;
  }
}
