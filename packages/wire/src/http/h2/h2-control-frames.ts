import { failConnection, type H2Frame, H2StreamError, h2Error, maxWindow, uint32At } from './h2-frame.ts';

// Frames with a fixed layout, checked (RFC 9113, sections 6.3, 6.4 and 6.7 to 6.9).

export const checkPriority = ({ id, bytes, start, end }: H2Frame): void => {
  if (id === 0) failConnection(h2Error.protocol, 'a priority outside of streams');
  if (end - start !== 5) throw new H2StreamError(id, h2Error.frameSize, 'a priority of another size than 5 bytes');
  if ((uint32At(bytes, start) & maxWindow) === id)
    throw new H2StreamError(id, h2Error.protocol, 'a stream depends on itself');
};

/** The code of a reset. */
export const readReset = ({ id, bytes, start, end }: H2Frame): number => {
  if (id === 0) failConnection(h2Error.protocol, 'a reset outside of streams');
  if (end - start !== 4) failConnection(h2Error.frameSize, 'a reset of another size than 4 bytes');
  return uint32At(bytes, start);
};

/** The data of a ping. */
export const readPing = ({ id, bytes, start, end }: H2Frame): Uint8Array => {
  if (id !== 0) failConnection(h2Error.protocol, 'a ping of a stream');
  if (end - start !== 8) failConnection(h2Error.frameSize, 'a ping of another size than 8 bytes');
  return bytes.subarray(start, end);
};

export const readGoaway = ({ id, bytes, start, end }: H2Frame): { last: number; code: number } => {
  if (id !== 0) failConnection(h2Error.protocol, 'a GOAWAY of a stream');
  if (end - start < 8) failConnection(h2Error.frameSize, 'a GOAWAY of less than 8 bytes');
  return { last: uint32At(bytes, start) & maxWindow, code: uint32At(bytes, start + 4) };
};

/** The increment of a window. */
export const readWindowUpdate = ({ id, bytes, start, end }: H2Frame): number => {
  if (end - start !== 4) failConnection(h2Error.frameSize, 'a window update of another size than 4 bytes');
  const increment = uint32At(bytes, start) & maxWindow;
  if (increment > 0) return increment;
  if (id === 0) failConnection(h2Error.protocol, 'a window update of 0');
  throw new H2StreamError(id, h2Error.protocol, 'a window update of 0');
};
