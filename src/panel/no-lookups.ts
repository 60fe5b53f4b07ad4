/**
 * On pages without TLS, Chromium looks up the host of each link before it is clicked on: a
 * name can carry words out. The page as a whole is told not to.
 */
export function lookUpNoNames(): void {
  const meta = document.createElement('meta');
  meta.httpEquiv = 'x-dns-prefetch-control';
  meta.content = 'off';
  document.head.append(meta);
}
