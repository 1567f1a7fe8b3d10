const drawn = crypto.getRandomValues(new Uint8Array(1));

/** Does at import what no module may. */
export default {
  fetch: (): Response => new Response(String(drawn[0])),
};
