import { describe, expect, it } from 'vitest';
import { chooseStep, datagramWay, PathUnavailable, streamWay } from './data-path.ts';

const works = (path: string) => ({ path, probe: () => undefined });
const fails = (path: string, reason: string) => ({ path, probe: () => reason });

describe('data path', () => {
  it('takes the fastest way that works and says why not a faster one', () => {
    const notes: string[] = [];
    const note = (remark: string) => notes.push(remark);
    const ladder = [fails('io_uring', 'no io_uring: a seccomp filter'), works('epoll'), works('node')];
    expect(chooseStep(ladder, { path: undefined, note }).path).toBe('epoll');
    expect(notes).toEqual(['sockets by epoll: no io_uring: a seccomp filter']);
    expect(chooseStep([works('io_uring'), works('node')], { path: 'auto', note }).path).toBe('io_uring');
    expect(notes).toHaveLength(1);
  });

  it('takes the way that was asked for, or none', () => {
    const note = () => expect.unreachable();
    expect(chooseStep([works('io_uring'), works('node')], { path: 'node', note }).path).toBe('node');
    const ladder = [fails('io_uring', 'kernel 4.19 has no io_uring'), works('node')];
    expect(() => chooseStep(ladder, { path: 'io_uring', note })).toThrow(PathUnavailable);
    expect(() => chooseStep(ladder, { path: 'io_uring', note })).toThrow('kernel 4.19 has no io_uring');
    expect(() => chooseStep(ladder, { path: 'epoll', note })).toThrow('no data path epoll');
  });

  it('finds the fast ways on a machine that tests of speed can run on', () => {
    expect([streamWay(), datagramWay()]).toEqual(['io_uring', 'sendmmsg']);
  });
});
