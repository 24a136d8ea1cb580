import { DAY_MS } from './time';

/** From 1970 to 9999, where the text of a day has one length. */
const LAST_MS = 253_402_300_799_999;

let day = Number.NaN;
let dayText = '';

const two = (value: number): string => (value < 10 ? `0${value}` : String(value));

/** An instant as toISOString writes it, in half the time where many of one day follow each other. Throws RangeError for what is none. */
export function instantText(at: Date): string {
  const ms = at.getTime();
  if (!(ms >= 0 && ms <= LAST_MS)) return at.toISOString();
  const days = Math.floor(ms / DAY_MS);
  if (days !== day) [day, dayText] = [days, at.toISOString().slice(0, 11)];
  const seconds = Math.floor((ms - days * DAY_MS) / 1_000);
  const clock = `${two(Math.floor(seconds / 3_600))}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
  return `${dayText}${clock}.${String(ms % 1_000).padStart(3, '0')}Z`;
}
