import { fstatSync } from 'node:fs';

const checkMs = 500;

const isPipe = (descriptor: number): boolean => {
  try {
    const stats = fstatSync(descriptor);
    return stats.isFIFO() || stats.isSocket();
  } catch {
    return false;
  }
};

/** Calls back once when the parent process exits. Returns a function that stops watching. */
export const onParentExit = (callback: () => void): (() => void) => {
  const parent = process.ppid;
  const watched = isPipe(0) && !process.connected ? process.stdin : undefined;
  const unwatch = () => {
    clearInterval(timer);
    process.off('disconnect', onExit);
    watched?.off('end', onExit).off('close', onExit);
  };
  const onExit = () => {
    unwatch();
    callback();
  };
  const timer = setInterval(() => {
    if (process.ppid !== parent) onExit();
  }, checkMs).unref();
  if (process.connected) process.on('disconnect', onExit);
  watched?.on('end', onExit).on('close', onExit).resume();
  return unwatch;
};
