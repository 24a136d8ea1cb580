/** An instant as the archive writes it: nanoseconds and no zone. */
export const archiveTime = (time: number): string => `${new Date(time).toISOString().slice(0, -1)}000000`;
