import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { text } from '../testing/build-capture.ts';
import { fitValue } from './fit-value.ts';
import { findHttpMessage } from './length-rule.ts';
import { StepTemplate } from './step-template.ts';

const plain = { mode: 'stateful', appProtocol: 'unknown' };
const http = { mode: 'stateful', appProtocol: 'http' };

/** The rule as it is written down: from the highest offset down, on the recorded bytes. */
const replaceDown = (recorded: string, mappings: { offset: number; length: number; value: string }[]) =>
  [...mappings]
    .sort((left, right) => right.offset - left.offset || right.length - left.length)
    .reduce((out, { offset, length, value }) => out.slice(0, offset) + value + out.slice(offset + length), recorded);

const render = (recorded: string, mappings: { at: string; value: string; type?: string }[], options = plain) => {
  const regions = mappings.map(({ at, type = 'string' }) => ({
    offset: recorded.indexOf(at),
    length: at.length,
    type,
  }));
  const template = new StepTemplate(text(recorded), regions, options);
  return Buffer.from(template.render(mappings.map(({ value }) => text(value)))).toString();
};

const post = (body: string, head = `Content-Length: ${body.length}\r\n`) =>
  `POST /login HTTP/1.1\r\nHost: app.test\r\n${head}\r\n${body}`;

describe('substitution of a step', () => {
  test('equals replacing regions from the highest offset down', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 6 });
    const cuts = fc.array(fc.tuple(fc.nat(4), fc.nat(4), letters), { maxLength: 6 });
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom(...'xyz0'), minLength: 60, maxLength: 60 }),
        cuts,
        (recorded, drawn) => {
          let at = 0;
          const mappings = drawn.map(([gap, length, value]) => {
            const offset = at + gap + 1;
            at = offset + length;
            return { offset, length, value };
          });
          const regions = mappings.map(({ offset, length }) => ({ offset, length, type: 'string' }));
          const template = new StepTemplate(text(recorded), regions, plain);
          const values = mappings.map(({ value }) => text(value));
          expect(Buffer.from(template.render(values)).toString()).toBe(replaceDown(recorded, mappings));
          for (const [index, { offset, length, value }] of mappings.entries()) {
            const [from, to] = template.locate(offset, offset + length, values);
            if (length > 0) expect(Buffer.from(template.render(values).subarray(from, to)).toString()).toBe(value);
            expect(template.rules[index]).toBe('free');
          }
        },
      ),
    );
  });

  test('rewrites the Content-Length of a whole message, itself a change of length', () => {
    expect(render(post('user=anna'), [{ at: 'anna', value: 'bartholomew' }], http)).toBe(post('user=bartholomew'));
    expect(render(post('user=anna'), [{ at: 'app.test', value: 'a.test' }], http)).toBe(
      post('user=anna').replace('app.test', 'a.test'),
    );
  });

  test.each<[string, string, string, string]>([
    ['a chunked body', post('4\r\nanna\r\n0\r\n\r\n', 'Transfer-Encoding: chunked\r\n'), 'anna', 'fixed'],
    ['the head of a chunked message', post('0\r\n\r\n', 'Transfer-Encoding: chunked\r\n'), 'app.test', 'free'],
    ['half a message', post('user=anna', 'Content-Length: 4000\r\n'), 'anna', 'fixed'],
    ['two messages in one step', post('user=anna') + post('x=y'), 'anna', 'fixed'],
    ['two Content-Lengths', post('user=anna', 'Content-Length: 9\r\nContent-Length: 9\r\n'), 'anna', 'fixed'],
    ['the Content-Length itself', post('user=anna'), '9', 'fixed'],
    ['a body that ends with the connection', 'HTTP/1.1 200 OK\r\n\r\nanna', 'anna', 'free'],
    ['a body without a head', 'user=anna', 'anna', 'fixed'],
  ])('%s is %j', (_, recorded, at, rule) => {
    const region = { offset: recorded.indexOf(at), length: at.length, type: 'string' };
    expect(new StepTemplate(text(recorded), [region], http).rules).toEqual([rule]);
  });

  test('keeps the length where it is part of the format', () => {
    const recorded = 'dddd1234text';
    for (const options of [
      { ...plain, appProtocol: 'tls' },
      { ...plain, mode: 'packet' },
    ]) {
      expect(render(recorded, [{ at: '1234', value: '7', type: 'integer' }], options)).toBe('dddd0007text');
      expect(render(recorded, [{ at: '1234', value: 'x' }], options)).toBe('ddddx   text');
      expect(() => render(recorded, [{ at: '1234', value: 'xxxxx' }], options)).toThrow(RangeError);
    }
    const binary = new StepTemplate(Uint8Array.of(0, 2, 65, 66), [{ offset: 2, length: 2, type: 'string' }], plain);
    expect(binary.rules).toEqual(['fixed']);
  });

  test('pads numbers on the left, behind their sign, and refuses what has no padding', () => {
    expect(Buffer.from(fitValue(text('-5'), 4, 'integer')).toString()).toBe('-005');
    expect(() => fitValue(text('a'), 2, 'hex')).toThrow(RangeError);
  });

  test('never changes more than its mappings, whatever the message', () => {
    const body = fc.string({ unit: fc.constantFrom(...'ab&=\r\n0'), maxLength: 40 });
    fc.assert(
      fc.property(body, fc.string({ unit: 'binary-ascii', maxLength: 20 }), (rest, value) => {
        const rendered = Buffer.from(render(post(`anna${rest}`), [{ at: 'anna', value }], http), 'utf8');
        const message = findHttpMessage(rendered);
        expect(message?.contentLength?.value).toBe(rendered.length - (message?.bodyOffset ?? 0));
      }),
    );
  });
});
