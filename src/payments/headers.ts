/** Every value of a header as it stood on the wire: Node joins or drops repeated ones. `rawHeaders` alternates names and values. */
export function headerValues(rawHeaders: readonly string[], name: string): string[] {
  const [found, wanted]: [string[], string] = [[], name.toLowerCase()];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const [field, value] = [rawHeaders[index] as string, rawHeaders[index + 1]];
    // Every request is looked through several times: most names already differ in length.
    if (field.length === name.length && field.toLowerCase() === wanted && value !== undefined) found.push(value.trim());
  }
  return found;
}
