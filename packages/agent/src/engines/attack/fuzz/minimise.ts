import type { Exchange } from '@rushhour/protocol';
import { fieldsOf } from './fields.ts';

/**
 * Looks for a shorter exchange that still does it, by leaving out ever smaller parts of each of its fields.
 * `doesIt` is asked at most `most` times; what is found so far is the answer.
 */
export const minimise = async (
  exchange: Exchange,
  isEnough: (candidate: Exchange) => Promise<boolean>,
  max: number,
): Promise<Exchange> => {
  let shortest = exchange;
  let asked = 0;
  const ask = (candidate: Exchange) => {
    asked += 1;
    return isEnough(candidate);
  };
  for (const { name } of fieldsOf(exchange)) {
    const bytesNow = () => fieldsOf(shortest).find((field) => field.name === name);
    for (let parts = 2; asked < max; ) {
      const field = bytesNow();
      if (field === undefined || field.bytes.length === 0) break;
      const size = Math.max(1, Math.ceil(field.bytes.length / parts));
      let isShorter = false;
      for (let at = 0; at < field.bytes.length && asked < max && !isShorter; at += size) {
        const rest = Buffer.concat([field.bytes.subarray(0, at), field.bytes.subarray(at + size)]);
        const candidate = field.put(rest);
        if (!(await ask(candidate))) continue;
        shortest = candidate;
        isShorter = true;
      }
      if (isShorter) parts = Math.max(2, parts - 1);
      else if (size === 1) break;
      else parts *= 2;
    }
  }
  return shortest;
};
