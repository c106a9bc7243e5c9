import { constants, crc32, deflateRawSync, gzipSync } from 'node:zlib';
import { centralBytes, endBytes, localBytes, type ZipMemberBytes } from './zip-bytes.ts';

const mebibyte = Buffer.alloc(1024 * 1024);

/** Raw deflate data of so many MiB of zeros, made without unpacking them here: whole blocks can be repeated. */
export function deflatedZeros(mebibytes: number): Buffer {
  const block = deflateRawSync(mebibyte, { level: 9, finishFlush: constants.Z_FULL_FLUSH });
  return Buffer.concat([...Array<Buffer>(mebibytes).fill(block), Buffer.from([3, 0])]);
}

/** The same as gzip, whose wrong checksum nobody lives to see. */
export function gzippedZeros(mebibytes: number): Buffer {
  return Buffer.concat([gzipSync('').subarray(0, 10), deflatedZeros(mebibytes), Buffer.alloc(8)]);
}

/**
 * A bomb of the kind that David Fifield described: all members share one kernel, and each quotes the local header of the
 * next in a stored block of deflate, so that every declared size and checksum is true and the members overlap.
 */
export function overlappingBomb(memberCount: number, kernelKibibytes: number): Buffer {
  const kernel = Buffer.alloc(kernelKibibytes * 1024);
  let packed = deflateRawSync(kernel, { level: 9 });
  let content = kernel;
  let following: Buffer | undefined;
  const members: ZipMemberBytes[] = [];
  for (let i = memberCount - 1; i >= 0; i--) {
    if (following) {
      content = Buffer.concat([following.subarray(0, following.length - packed.length), content]);
      packed = Buffer.concat([storedBlockHeader(following.length - packed.length), following]);
    }
    const member = {
      name: `member-${i}`,
      method: 8,
      packed,
      declaredSize: content.length,
      crc: crc32(content),
      content: Buffer.alloc(0),
    };
    following = localBytes(member);
    members.unshift(member);
  }
  const body = following ?? Buffer.alloc(0);
  const central = members.map((member) => centralBytes(member, body.length - localBytes(member).length));
  const directory = Buffer.concat(central);
  return Buffer.concat([body, directory, endBytes(memberCount, directory.length, body.length)]);
}

function storedBlockHeader(length: number): Buffer {
  const header = Buffer.alloc(5);
  header.writeUInt16LE(length, 1);
  header.writeUInt16LE(~length & 0xffff, 3);
  return header;
}
