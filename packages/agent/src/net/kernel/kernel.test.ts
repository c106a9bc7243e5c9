import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addressToNumber } from '../addresses/address-range.ts';
import { errnoName, SystemError } from './errno.ts';
import { mapMemory } from './memory.ts';
import { beginConnect, bindSocket, closeSocket, localEndpoint, openSocket, socketType } from './socket.ts';
import { family, readSocketAddress, socketAddressBytes, writeSocketAddress } from './socket-address.ts';

describe('memory for the kernel', () => {
  it('returns addresses inside the mapping and rejects all others', () => {
    const memory = mapMemory({ length: 4096 });
    const base = memory.addressOf(0, 4096);
    expect(memory.addressOf(100, 50) - base).toBe(100);
    const outside = fc.tuple(fc.integer({ min: -5000, max: 9000 }), fc.integer({ min: -5000, max: 9000 }));
    fc.assert(
      fc.property(outside, ([offset, length]) => {
        const isInside = offset >= 0 && length >= 0 && offset + length <= memory.length;
        if (isInside) expect(memory.addressOf(offset, length)).toBe(base + offset);
        else expect(() => memory.addressOf(offset, length)).toThrow(RangeError);
      }),
    );
    for (const bad of [Number.NaN, 0.5, Number.POSITIVE_INFINITY]) {
      expect(() => memory.addressOf(bad, 1)).toThrow(RangeError);
      expect(() => memory.addressOf(0, bad)).toThrow(RangeError);
    }
    memory.release();
  });

  it('cannot be accessed after release', () => {
    const memory = mapMemory({ length: 4096 });
    const { bytes, int32 } = memory;
    bytes[7] = 7;
    memory.release();
    memory.release();
    expect([bytes.length, int32.length, bytes[7]]).toEqual([0, 0, undefined]);
    expect(() => memory.addressOf(0, 1)).toThrow(RangeError);
  });

  it('rejects invalid sizes', () => {
    for (const length of [0, -1, Number.NaN, 2 ** 60]) expect(() => mapMemory({ length })).toThrow();
  });
});

describe('socket addresses', () => {
  it('are read as they were written', () => {
    const bytes = Buffer.alloc(socketAddressBytes);
    const back = (address: string, port: number) => {
      writeSocketAddress(bytes, 0, { address, port });
      return readSocketAddress(bytes, 0);
    };
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), fc.nat(65_535), (address, port) => {
        const read = back(address, port);
        expect(read.port).toBe(port);
        expect(addressToNumber(read.address)).toBe(addressToNumber(address));
      }),
    );
    expect(back('::ffff:10.0.0.1', 7)).toEqual({ address: '::ffff:10.0.0.1', port: 7 });
  });

  it.each(['1.2.3', '1.2.3.4.5', '1.2.3.256', 'a.b.c.d', '', '1..2.3', 'x::1', 'localhost'])('refuse %j', (address) => {
    expect(() => writeSocketAddress(Buffer.alloc(64), 0, { address, port: 1 })).toThrow(RangeError);
  });

  it.each([-1, 65_536, 1.5, Number.NaN])('refuse the port %d', (port) => {
    expect(() => writeSocketAddress(Buffer.alloc(64), 0, { address: '1.2.3.4', port })).toThrow(RangeError);
  });
});

describe('raw sockets', () => {
  it('report kernel errors by name', () => {
    const fd = openSocket(family.inet, socketType.stream);
    expect(() => bindSocket(fd, { address: '203.0.113.1', port: 0 })).toThrow('bind EADDRNOTAVAIL: 203.0.113.1:0');
    bindSocket(fd, { address: '127.0.0.1', port: 0 });
    expect(localEndpoint(fd)).toMatchObject({ address: '127.0.0.1' });
    expect(errnoName(beginConnect(fd, { address: '127.0.0.1', port: 1 }))).toMatch(/EINPROGRESS|ECONNREFUSED/);
    closeSocket(fd);
    expect(() => bindSocket(-1, { address: '127.0.0.1', port: 0 })).toThrow(SystemError);
    expect(errnoName(424_242)).toBe('E424242');
  });
});
