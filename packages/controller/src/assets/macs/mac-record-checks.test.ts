import { describe, expect, it } from 'vitest';
import { chosenVendor, vendorOf } from './mac-record-checks.ts';

describe('the vendor of a MAC', () => {
  it('is known for common prefixes, of addresses and OUIs alike', () => {
    expect(vendorOf('00:50:56:01:02:03')).toBe('VMware');
    expect(vendorOf('00:10:94')).toBe('Spirent');
    expect(vendorOf('02:1a:4c:00:00:01')).toBe('');
  });

  it('may be chosen, and follows the address as long as it is not', () => {
    expect(chosenVendor('Lab', '00:50:56:01:02:03')).toBe('Lab');
    expect(chosenVendor('Lab', '00:10:94:00:00:01', '00:50:56:01:02:03')).toBe('Lab');
    expect(chosenVendor('VMware', '00:10:94:00:00:01', '00:50:56:01:02:03')).toBe('Spirent');
    expect(chosenVendor(undefined, '00:10:94:00:00:01')).toBe('Spirent');
    expect(chosenVendor('', '06:00:00:00:00:01')).toBe('');
  });
});
