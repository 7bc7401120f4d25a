// What anywidget calls: the view that the frame asks for.

const VIEWS = { loading: LoadingView, pca: PCAView, gini: GiniView };

export default {
  render({ model, el }) {
    const root = element("div");
    el.append(root);
    const explorer = new VIEWS[model.get("_view")](model, root);
    return () => explorer.close();
  },
};
