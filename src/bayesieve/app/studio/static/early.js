// Asks for what the page shows first, before the other scripts have come.
self.early = {state: fetch("/api/state"), columns: fetch("/api/columns")};
