/** The URL of a service for logs and answers: without its login, query and fragment, which may hold secrets. */
export function shownUrl(url: string): string {
  const shown = new URL(url);
  shown.username = "";
  shown.password = "";
  shown.search = "";
  shown.hash = "";
  return shown.href;
}
