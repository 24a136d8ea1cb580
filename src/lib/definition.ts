/** What a figure means and how it is computed, for the methodology page. */
export interface Definition {
  /** Where it stands on the page. */
  id: string;
  /** Names it in texts: between double quotes it leads there. */
  title: string;
  /** Paragraphs, parted by blank lines; what stands between backticks is code. */
  text: string;
}

/** A number as it is read: 50,000. */
export const written = (value: number): string => value.toLocaleString('en-US', { maximumFractionDigits: 6 });
