const drawn = crypto.getRandomValues(new Uint8Array(1));

/** Has the side effects that no module may have at import. */
export default {
  fetch: (): Response => new Response(String(drawn[0])),
};
