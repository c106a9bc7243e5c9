/** Error codes of NOTIFICATION messages (RFC 4271, section 4.5). */
export const bgpError = {
  header: 1,
  open: 2,
  update: 3,
  holdTimer: 4,
  stateMachine: 5,
  cease: 6,
  routeRefresh: 7,
} as const;

export const headerError = { notSynchronized: 1, badLength: 2, badType: 3 } as const;

export const openError = {
  unsupportedVersion: 1,
  badPeerAs: 2,
  badIdentifier: 3,
  unsupportedParameter: 4,
  unacceptableHoldTime: 6,
  unsupportedCapability: 7,
} as const;

export const updateError = {
  malformedAttributes: 1,
  unknownWellKnown: 2,
  missingWellKnown: 3,
  attributeFlags: 4,
  attributeLength: 5,
  invalidOrigin: 6,
  invalidNextHop: 8,
  optionalAttribute: 9,
  invalidNetwork: 10,
  malformedAsPath: 11,
} as const;

/** Subcodes of Cease (RFC 4486, RFC 8538). */
export const ceaseReason = {
  maxPrefixes: 1,
  shutdown: 2,
  peerRemoved: 3,
  reset: 4,
  rejected: 5,
  configurationChange: 6,
  collision: 7,
  outOfResources: 8,
  hardReset: 9,
  bfdDown: 10,
} as const;

const codeNames: Readonly<Record<number, string>> = {
  1: 'message header error',
  2: 'OPEN message error',
  3: 'UPDATE message error',
  4: 'hold timer expired',
  5: 'state machine error',
  6: 'cease',
  7: 'ROUTE-REFRESH message error',
};

const subcodeNames: Readonly<Record<number, Readonly<Record<number, string>>>> = {
  1: { 1: 'connection not synchronized', 2: 'bad message length', 3: 'bad message type' },
  2: {
    1: 'unsupported version',
    2: 'bad peer AS',
    3: 'bad BGP identifier',
    4: 'unsupported optional parameter',
    6: 'unacceptable hold time',
    7: 'unsupported capability',
  },
  3: {
    1: 'malformed attribute list',
    2: 'unrecognized well-known attribute',
    3: 'missing well-known attribute',
    4: 'attribute flags error',
    5: 'attribute length error',
    6: 'invalid ORIGIN',
    8: 'invalid NEXT_HOP',
    9: 'optional attribute error',
    10: 'invalid network field',
    11: 'malformed AS_PATH',
  },
  5: {
    1: 'unexpected message in OpenSent',
    2: 'unexpected message in OpenConfirm',
    3: 'unexpected message in Established',
  },
  6: {
    1: 'maximum number of prefixes reached',
    2: 'administrative shutdown',
    3: 'peer removed',
    4: 'administrative reset',
    5: 'connection rejected',
    6: 'configuration change',
    7: 'connection collision',
    8: 'out of resources',
    9: 'hard reset',
    10: 'BFD down',
  },
};

/** `UPDATE message error: invalid NEXT_HOP (3/8)`. */
export const describeNotification = (code: number, subcode: number): string => {
  const detail = subcodeNames[code]?.[subcode];
  return `${codeNames[code] ?? 'unknown error'}${detail === undefined ? '' : `: ${detail}`} (${code}/${subcode})`;
};

const noData = new Uint8Array(0);

/** A message that ends the session; carries what the NOTIFICATION says. */
export class BgpError extends Error {
  readonly code: number;
  readonly subcode: number;
  readonly data: Uint8Array;

  constructor(code: number, subcode: number, data: Uint8Array = noData) {
    super(describeNotification(code, subcode));
    this.code = code;
    this.subcode = subcode;
    this.data = data;
  }
}
