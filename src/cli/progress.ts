import { Writable } from 'node:stream';
import { SingleBar } from 'cli-progress';

/** What a long work writes on: a terminal, or a file, a pipe, a log. */
type Told = NodeJS.WritableStream & { isTTY?: boolean };

/** Tells how far a long work is: on a terminal in one line that changes, elsewhere a line every `everyMs` while there is news. */
export const progressBar = (format: string, stream: Told, everyMs: number): SingleBar =>
  new SingleBar({
    format,
    noTTYOutput: true,
    notTTYSchedule: everyMs,
    stream: stream.isTTY === true ? stream : newsOnly(stream),
  });

/** Lines into `stream`, but none that says what the one before it said: a bar draws itself once more when it stops, and then an empty line. */
function newsOnly(stream: NodeJS.WritableStream): Writable {
  let [line, last] = ['', ''];
  return new Writable({
    decodeStrings: false,
    write(text: string, _encoding, done) {
      const lines = `${line}${text}`.split('\n');
      line = lines.pop() as string;
      for (const whole of lines) {
        if (whole !== '' && whole !== last) stream.write(`${whole}\n`);
        if (whole !== '') last = whole;
      }
      done();
    },
  });
}
