/** Copies the text of a field, which stays selected. Returns whether the browser did it. */
export async function copyField(field: HTMLInputElement | HTMLTextAreaElement): Promise<boolean> {
  field.select();
  // Browsers offer the clipboard to secure origins only, and the old command to all.
  if (!navigator.clipboard) return document.execCommand("copy");
  return navigator.clipboard.writeText(field.value).then(
    () => true,
    () => false,
  );
}
