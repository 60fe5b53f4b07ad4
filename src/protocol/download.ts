/** A file that the server has made, for the person to keep. */
export interface IFile {
  readonly name: string;
  readonly content: Blob;
}

/** Hand it to the browser, which saves it as it saves every download. */
export function download({ name, content }: IFile): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  // The browser begins to read it in this turn of the loop, and may then lose the name.
  setTimeout(() => URL.revokeObjectURL(link.href), 0);
}
