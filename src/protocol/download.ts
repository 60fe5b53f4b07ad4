/** A file made by the server, for the person to save. */
export interface IFile {
  readonly name: string;
  readonly content: Blob;
}

/** Save the file as a browser download. */
export function download({ name, content }: IFile): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  // The browser starts reading in this turn of the event loop; the URL must last until then.
  setTimeout(() => URL.revokeObjectURL(link.href), 0);
}
