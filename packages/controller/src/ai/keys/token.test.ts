import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createSecrets } from '../../store/engine/secrets.ts';
import { isWellFormed, newNonce, tokenHash, tokenOf } from './token.ts';

const secrets = createSecrets(randomBytes(32));

it('derives the same token again, and another for every approval, nonce and installation', () => {
  const nonce = newNonce();
  const token = tokenOf(secrets, 7, nonce);
  expect(tokenOf(secrets, 7, nonce)).toBe(token);
  expect(token).toMatch(/^rh_aat_[0-9A-Za-z]{49}$/);
  const others = [
    tokenOf(secrets, 8, nonce),
    tokenOf(secrets, 7, newNonce()),
    tokenOf(createSecrets(randomBytes(32)), 7, nonce),
  ];
  expect(new Set([token, ...others].map(tokenHash)).size).toBe(4);
});

it('knows a token with one wrong character from a real one', () => {
  fc.assert(
    fc.property(fc.nat(), fc.integer({ min: 7, max: 55 }), fc.constantFrom(...'0Aaz9'), (id, at, letter) => {
      const token = tokenOf(secrets, id, 'nonce');
      expect(isWellFormed(token)).toBe(true);
      const typo = token.slice(0, at) + letter + token.slice(at + 1);
      expect(isWellFormed(typo)).toBe(typo === token);
    }),
  );
  for (const text of ['', 'rh_aat_', 'rh_ai_00000000', `x${tokenOf(secrets, 1, '')}`, `${tokenOf(secrets, 1, '')} `]) {
    expect(isWellFormed(text)).toBe(false);
  }
});
