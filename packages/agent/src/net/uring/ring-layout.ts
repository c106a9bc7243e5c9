/** System call numbers; the same on x64 and arm64. */
export const ringCall = { setup: 425, enter: 426, register: 427 } as const;

export const setupFlag = {
  cqSize: 1 << 3,
  clamp: 1 << 4,
  submitAll: 1 << 7,
  coopTaskrun: 1 << 8,
  singleIssuer: 1 << 12,
  deferTaskrun: 1 << 13,
} as const;

export const enterFlag = { getEvents: 1, extArgument: 8 } as const;

export const registration = { filesUpdate: 6, probe: 8, files: 13, bufferRing: 22 } as const;

export const opcode = {
  pollAdd: 6,
  accept: 13,
  close: 19,
  send: 26,
  recv: 27,
} as const;

/** Events of `pollAdd`. */
export const pollEvent = { in: 1, out: 4 } as const;

export const sqeFlag = {
  fixedFile: 1 << 0,
  bufferSelect: 1 << 5,
  skipSuccess: 1 << 6,
} as const;

export const cqeFlag = { more: 1 << 1 } as const;

/** Bits of `ioprio` for accept: one request, many completions. */
export const acceptFlag = { multishot: 1 << 0 } as const;

/** Bits of `ioprio` for receive: wait for data first instead of trying a read. */
export const recvFlag = { waitFirst: 1 << 0, multishot: 1 << 1 } as const;

/** Offsets in `struct io_uring_params`. */
export const paramsLayout = {
  bytes: 120,
  sqEntries: 0,
  cqEntries: 4,
  flags: 8,
  features: 20,
  sq: { head: 40, tail: 44, array: 64 },
  cq: { head: 80, tail: 84, cqes: 100 },
} as const;

export const mapOffset = { rings: 0, sqes: 0x1000_0000 } as const;
