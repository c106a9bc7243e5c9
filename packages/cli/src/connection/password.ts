import { text } from 'node:stream/consumers';

const [interrupt, endOfText, backspace, del] = ['\u0003', '\u0004', '\u0008', '\u007f'];

/** Reads a line from the terminal without showing it. */
const askHidden = (question: string) =>
  new Promise<string>((resolve, reject) => {
    const { stdin, stderr } = process;
    let typed = '';
    const finish = (work: () => void) => {
      stdin.setRawMode(false);
      stdin.pause();
      stdin.off('data', onData);
      stderr.write('\n');
      work();
    };
    const onData = (chunk: string) => {
      for (const key of chunk) {
        if (key === '\r' || key === '\n' || key === endOfText) return finish(() => resolve(typed));
        if (key === interrupt) return finish(() => reject(new Error('interrupted')));
        typed = key === backspace || key === del ? typed.slice(0, -1) : typed + key;
      }
    };
    stdin.setEncoding('utf8');
    // Before the question: what is typed ahead must not be shown either.
    stdin.setRawMode(true);
    stderr.write(question);
    stdin.on('data', onData);
    stdin.resume();
  });

/** The password from RUSHHOUR_PASSWORD, the terminal or standard input. */
export const readPassword = async (question = 'Password: '): Promise<string> => {
  const given = process.env['RUSHHOUR_PASSWORD'];
  if (given !== undefined) return given;
  if (process.stdin.isTTY) return askHidden(question);
  return (await text(process.stdin)).replace(/\r?\n$/, '');
};
