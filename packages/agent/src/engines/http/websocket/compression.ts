import { constants, deflateRawSync, inflateRawSync } from 'node:zlib';
import type { MessageCompression } from '@rushhour/wire';

/** Every message ends with these four bytes, which are not sent (RFC 7692, section 7.2.1). */
const tail = Buffer.from([0, 0, 0xff, 0xff]);
const finishFlush = constants.Z_SYNC_FLUSH;

export const messageCompression: MessageCompression = {
  compress: (bytes) => deflateRawSync(bytes, { finishFlush }).subarray(0, -tail.length),
  decompress: (bytes, maxBytes) =>
    inflateRawSync(Buffer.concat([bytes, tail]), { finishFlush, maxOutputLength: maxBytes }),
};
