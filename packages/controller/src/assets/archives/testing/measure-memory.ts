import { verifyArchive } from './verify-archive.ts';

// Run as a program of its own: reads the archives named on the command line and prints what became of them and the peak of its memory.
const outcomes: string[] = [];
for (const path of process.argv.slice(2)) {
  outcomes.push(
    await verifyArchive({ path }, { nested: 'open' }).then(
      () => 'read',
      (error: { code?: string }) => error.code ?? 'unknown',
    ),
  );
}
process.stdout.write(JSON.stringify({ outcomes, peakKilobytes: process.resourceUsage().maxRSS }));
