/** Processor time of this process: unlike the clock it does not run while others are served. */
export const cpuMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};
