import { fstatSync } from 'node:fs';

const checkMs = 500;

const isPipe = (descriptor: number): boolean => {
  try {
    const about = fstatSync(descriptor);
    return about.isFIFO() || about.isSocket();
  } catch {
    return false;
  }
};

/** Calls back once when the process that started this one is gone. Returns the way to stop watching. */
export const onParentGone = (callback: () => void): (() => void) => {
  const parent = process.ppid;
  const watched = isPipe(0) && !process.connected ? process.stdin : undefined;
  const unwatch = () => {
    clearInterval(timer);
    process.off('disconnect', gone);
    watched?.off('end', gone).off('close', gone);
  };
  const gone = () => {
    unwatch();
    callback();
  };
  const timer = setInterval(() => {
    if (process.ppid !== parent) gone();
  }, checkMs).unref();
  if (process.connected) process.on('disconnect', gone);
  watched?.on('end', gone).on('close', gone).resume();
  return unwatch;
};
