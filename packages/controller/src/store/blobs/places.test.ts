import { expect, test } from 'vitest';
import { createPlaces } from './places.ts';

test('places are given out in order, and each is left once however often it is left', async () => {
  const places = createPlaces(2);
  const entered: number[] = [];
  const enter = async (n: number) => {
    const leave = await places.enter();
    entered.push(n);
    return leave;
  };
  const [leaveFirst] = await Promise.all([enter(1), enter(2)]);
  const third = enter(3);
  const fourth = enter(4);
  await Promise.resolve();
  expect(entered).toEqual([1, 2]);
  leaveFirst();
  leaveFirst();
  const leaveThird = await third;
  expect(entered).toEqual([1, 2, 3]);
  leaveThird();
  await fourth;
  expect(entered).toEqual([1, 2, 3, 4]);
});

test('whoever gives up waiting loses the turn to the next', async () => {
  const places = createPlaces(1);
  const leave = await places.enter();
  const giveUp = new AbortController();
  const second = places.enter(giveUp.signal);
  const third = places.enter();
  giveUp.abort(new Error('gone'));
  await expect(second).rejects.toThrow('gone');
  leave();
  expect(await third).toBeTypeOf('function');
  await expect(places.enter(AbortSignal.abort(new Error('late')))).rejects.toThrow('late');
});
