import type { QuicConnection, QuicConnectionEvents } from '../../net/quic/quic.ts';
import { frame } from './framing.ts';
import type { Resolver } from './resolver.ts';

const protocolError = 2;
const minMessageBytes = 12;
/** With the length before it. */
const maxFramedBytes = 2 + 0xffff;

/** DNS over QUIC (RFC 9250): one query and its answer on each stream. */
export const serveDoq = (
  connection: QuicConnection,
  resolver: Resolver,
  onError: (code: string) => void,
): QuicConnectionEvents => {
  let isOpen = true;
  const refuse = () => {
    isOpen = false;
    onError('protocol');
    connection.close(protocolError);
  };
  return {
    onOpen() {},
    onStream: (stream) => {
      const parts: Buffer[] = [];
      let length = 0;
      return {
        onData(bytes, start, end, isEnd) {
          if (!isOpen) return;
          length += end - start;
          if (length > maxFramedBytes) {
            refuse();
            return;
          }
          parts.push(Buffer.from(bytes.subarray(start, end)));
          if (!isEnd) return;
          const framed = Buffer.concat(parts);
          const isWhole = framed.length >= minMessageBytes + 2 && framed.readUInt16BE(0) === framed.length - 2;
          // Queries have the number 0.
          if (!isWhole || framed.readUInt16BE(2) !== 0) {
            refuse();
            return;
          }
          resolver.resolve(framed.subarray(2), 'stream', (answer) => {
            if (isOpen) stream.write(frame(answer), true);
          });
        },
        onReset() {},
      };
    },
    onClose(code) {
      isOpen = false;
      if (code !== undefined) onError(code);
    },
  };
};
