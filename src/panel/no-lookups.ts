/**
 * Turn off DNS prefetching for the whole page. On pages without TLS, Chromium looks up the host
 * of each link before a click, and a host name can leak text.
 */
export function disableDnsPrefetch(): void {
  const meta = document.createElement('meta');
  meta.httpEquiv = 'x-dns-prefetch-control';
  meta.content = 'off';
  document.head.append(meta);
}
